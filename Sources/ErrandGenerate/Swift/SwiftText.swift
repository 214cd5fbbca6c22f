/// Collects the lines of a Swift file.
struct SwiftText {
  private(set) var lines: [String] = []
  private var indent = 0

  mutating func line(_ text: String) {
    lines.append(text.isEmpty ? "" : String(repeating: "  ", count: indent) + text)
  }

  /// Writes a text of several lines that ends with a line break.
  mutating func rows(of text: String) {
    for row in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() { line(String(row)) }
  }

  mutating func blank() { if lines.last != "", !(lines.last?.hasSuffix("{") ?? true) { lines.append("") } }

  /// Adds the enumeration of the API to the names of the helper types.
  mutating func qualifyHelpers(of family: String) { lines = lines.map { SupportText.qualified($0, of: family) } }

  /// Writes a block in braces.
  mutating func block(_ head: String, _ body: (inout SwiftText) -> Void) {
    line("\(head) {")
    indent += 1
    body(&self)
    indent -= 1
    line("}")
  }

  /// Writes `head`, one item a line, and `tail`; or everything on one line if it fits into 120 columns.
  mutating func list(_ head: String, _ items: [String], _ tail: String) {
    let short = head + items.joined(separator: ", ") + tail
    if short.count + indent * 2 <= 120, !items.contains(where: { $0.contains("\n") }) { return line(short) }
    line(head)
    for (index, item) in items.enumerated() {
      let end = index + 1 < items.count || head.hasSuffix("[") ? "," : ""
      for row in "\(item)\(end)".split(separator: "\n") { line("  \(row)") }
    }
    line(String(tail.drop { $0 == " " }))
  }

  /// Writes an initializer that stores its parameters. Names are escaped, and types have their default values.
  mutating func initializer(_ access: String, _ parameters: [(name: String, type: String)]) {
    blank()
    list("\(access)init(", parameters.map { "\($0.name): \($0.type)" }, parameters.isEmpty ? ") {}" : ") {")
    for parameter in parameters { line("  self.\(parameter.name) = \(parameter.name)") }
    if !parameters.isEmpty { line("}") }
  }

  /// Writes a documentation comment in lines of up to 120 columns.
  mutating func doc(_ paragraphs: [String]) {
    let texts = paragraphs.map(Self.plain).filter { !$0.isEmpty }
    for (index, text) in texts.enumerated() {
      if index > 0 { line("///") }
      for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if part.isEmpty { line("///") } else { for row in wrapped(String(part)) { line("/// \(row)") } }
      }
    }
  }

  private func wrapped(_ text: String) -> [String] {
    var rows: [String] = []
    var row = ""
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      if !row.isEmpty, row.count + word.count + 5 + indent * 2 > 120 {
        rows.append(row)
        row = String(word)
      } else {
        row += row.isEmpty && rows.isEmpty && word.isEmpty ? " " : (row.isEmpty ? "\(word)" : " \(word)")
      }
    }
    return (rows + [row]).map(\.trimmingTrailingSpace)
  }

  /// A text without control characters, and without empty lines at its ends.
  private static func plain(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0A: scalars.append(scalar)
      case 0x0B, 0x0C, 0x85, 0x2028, 0x2029: scalars.append("\n")
      case 0..<0x20, 0x7F, 0x202A...0x202E, 0x2066...0x2069: scalars.append(scalar.value == 0x0D ? "\n" : " ")
      // Emoji and some scripts need the joiners.
      case 0x200C, 0x200D: scalars.append(scalar)
      case _ where scalar.isInvisibleFormat: break
      default: scalars.append(scalar)
      }
    }
    let lines = String(scalars).split(separator: "\n", omittingEmptySubsequences: false).map {
      String($0).trimmingTrailingSpace
    }
    return lines.drop { $0.isEmpty }.reversed().drop { $0.isEmpty }.reversed().joined(separator: "\n")
  }

  static func literal(_ text: String) -> String { "\"\(literalContent(text))\"" }

  /// The content of a string literal between its quotes.
  static func literalContent(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      default:
        let isHidden =
          scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0x2028...0x2029).contains(scalar.value)
          || scalar.isInvisibleFormat
        if isHidden { out += "\\u{\(String(scalar.value, radix: 16))}" } else { out.unicodeScalars.append(scalar) }
      }
    }
    return out
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is a format character without a shape. Such characters change the order of a text or hide in it.
  fileprivate var isInvisibleFormat: Bool {
    properties.generalCategory == .format && properties.isDefaultIgnorableCodePoint
  }
}

extension String {
  fileprivate var trimmingTrailingSpace: String {
    var text = self[...]
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
  }
}
