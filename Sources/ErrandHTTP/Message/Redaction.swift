/// Prepares text for logs: masks query values, credentials in URLs and secret fields, and escapes line breaks.
package enum Redaction {
  package static let mask = "•••"

  /// Returns the text on one line. Control characters, line separators and bidirectional controls are escaped.
  package static func visible(_ text: String) -> String {
    let isHidden: (Unicode.Scalar) -> Bool = {
      $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.value == 0x2028 || $0.value == 0x2029
        || (0x202A...0x202E).contains($0.value) || (0x2066...0x2069).contains($0.value)
        || (0x200E...0x200F).contains($0.value) || $0.value == 0x061C
    }
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    return text.unicodeScalars.map { isHidden($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
  }

  /// Returns a URL on one line, with the user info, the values of the query and the fragment masked.
  ///
  /// The function compares Unicode scalars, not characters. A question mark followed by a combining accent is another
  /// `Character` than a question mark, so a search for characters would miss it.
  package static func url(_ text: String) -> String {
    var text = visible(text).unicodeScalars
    maskUserInfo(of: &text)
    if let hash = text.firstIndex(of: "#"), text.index(after: hash) < text.endIndex {
      text.replaceSubrange(text.index(after: hash)..., with: mask.unicodeScalars)
    }
    let end = text.firstIndex(of: "#") ?? text.endIndex
    guard let question = text[..<end].firstIndex(of: "?") else { return String(text) }
    let query = text[text.index(after: question)..<end]
    let pairs = query.split(separator: "&", omittingEmptySubsequences: false)  // compares scalars
    return String(text[...question]) + pairs.map(pair).joined(separator: "&") + String(text[end...])
  }

  private static func maskUserInfo(of text: inout String.UnicodeScalarView) {
    guard let start = authorityStart(of: text) else { return }
    let end = text[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? text.endIndex
    // If the text after the host's colon is not a port number, it is probably a password that contains a slash. The `@`
    // that ends the password is then searched in the whole text.
    let parts = text[start..<end].split(separator: ":")  // compares scalars
    let port = parts.dropFirst().last ?? "0".unicodeScalars[...]
    let reach = port.allSatisfy { ("0"..."9").contains($0) || $0 == "]" } ? end : text.endIndex
    if let at = text[start..<reach].lastIndex(of: "@") { text.replaceSubrange(start..<at, with: mask.unicodeScalars) }
  }

  /// The position after `//` at the start of the text; otherwise the position after the first `://`.
  private static func authorityStart(of text: String.UnicodeScalarView) -> String.Index? {
    if text.starts(with: "//".unicodeScalars) { return text.index(text.startIndex, offsetBy: 2) }
    var rest = text[...]
    while let colon = rest.firstIndex(of: ":") {
      rest = text[text.index(after: colon)...]
      if rest.starts(with: "//".unicodeScalars) { return text.index(rest.startIndex, offsetBy: 2) }
    }
    return nil
  }

  /// Masks the value of one query item (`name=value`). An item without an equals sign is masked completely, because the
  /// whole item may be a secret.
  private static func pair(_ pair: Substring.UnicodeScalarView) -> String {
    guard let equals = pair.firstIndex(of: "=") else { return pair.isEmpty ? "" : mask }
    return String(pair[...equals]) + (pair.index(after: equals) == pair.endIndex ? "" : mask)
  }
}
