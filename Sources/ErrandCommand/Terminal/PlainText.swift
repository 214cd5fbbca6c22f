/// Makes external text safe to print, so that the printed text cannot move the cursor or change colours.
enum PlainText {
  /// The text with control characters replaced by visible symbols; tabs and line feeds stay if `keepsLines` is true.
  static func visible(_ text: String, keepsLines: Bool = false) -> String {
    var out = String.UnicodeScalarView()
    let text = keepsLines ? text.replacing("\r\n", with: "\n") : text
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x09 where keepsLines, 0x0A where keepsLines: out.append(scalar)
      case 0x00...0x1F: out.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
      case 0x7F: out.append("\u{2421}")
      case 0x80...0x9F: out.append("\u{FFFD}")
      default: out.append(scalar)
      }
    }
    return String(out)
  }
}
