import Errand
import ErrandHTTP
import Foundation

enum BodyPrinter {
  enum Showing: Equatable {
    /// The body is printed as unchanged bytes.
    case raw(Data)
    case text(String)
    /// The body is not printed. A note states the reason.
    case note(String)
  }

  /// Writes a body, or a note instead of the body. Returns nil, or the system's error number if the write fails.
  static func write(_ body: Data, of response: HTTPResponse) -> Int32? {
    let isTerminal = Terminal.isTerminal(.output)
    switch showing(body, of: response, isTerminal: isTerminal, paint: Terminal.paint(for: .output)) {
    case .raw(let data): return Terminal.write(data)
    case .text(let text): return Terminal.write(text)
    case .note(let note):
      Terminal.reportError(note)
      return nil
    }
  }

  /// Chooses the form in which a body is printed. A pipe receives the unchanged bytes. A terminal shows indented and
  /// coloured JSON, text without control characters, or a note.
  static func showing(_ body: Data, of response: HTTPResponse, isTerminal: Bool, paint: Paint) -> Showing {
    guard isTerminal, !body.isEmpty else { return .raw(body) }
    if let text = String(validating: body, as: UTF8.self), (try? JSONValue(parsing: body)) != nil {
      return .text(JSONPrinter.pretty(text, paint: paint) + "\n")
    }
    guard isText(response), let text = try? response.text() else {
      let type = response.fields[.contentType].map { " of \(PlainText.visible($0))" } ?? ""
      return .note(
        "\(Wording.bytes(Int64(body.count)))\(type) are not shown on a terminal; use -o FILE or a pipe")
    }
    let visible = PlainText.visible(text, keepsLines: true)
    return .text(visible.hasSuffix("\n") ? visible : visible + "\n")
  }

  /// Whether the body is text. The content type decides. Without a content type, a body without zero bytes is text.
  private static func isText(_ response: HTTPResponse) -> Bool {
    guard let type = response.fields.mediaType else { return !response.body.contains(0) }
    let texts = ["application/xml", "application/javascript", "application/x-www-form-urlencoded", "image/svg+xml"]
    return type.matches("text/*") || type.isJSON || texts.contains(type.essence) || type.essence.hasSuffix("+xml")
  }
}

/// Indents and colours a JSON text without changing the order of members or the notation of numbers.
///
/// Levels of nesting after ``deepest`` are not indented further. A text that would still become much larger is printed
/// on one line and without colours. Otherwise the spaces of a deeply nested body would take many times its size.
///
/// The text must be valid JSON, because this type reads the tokens of the text without checking them.
struct JSONPrinter {
  /// The largest number of levels that are indented.
  static let deepest = 32

  private let paint: Paint
  private let isIndented: Bool
  /// The largest size of the result in bytes.
  private let limit: Int
  private var out = ""
  /// The open brackets, the innermost last. True means that the bracket belongs to an object, false that it belongs to
  /// an array.
  private var open: [Bool] = []
  private var awaitsKey = false

  /// The text with one line for each member, indented by two spaces for each level of nesting; without a line feed at
  /// the end. If the result would have more than 8 times the bytes of the text and 1 MiB, the text is on one line.
  static func pretty(_ text: String, paint: Paint) -> String {
    var printer = JSONPrinter(paint: paint, isIndented: true, limit: text.utf8.count * 8 + (1 << 20))
    if printer.walk(text.unicodeScalars) { return printer.out }
    printer = JSONPrinter(paint: .plain, isIndented: false, limit: .max)
    _ = printer.walk(text.unicodeScalars)
    return printer.out
  }

  private init(paint: Paint, isIndented: Bool, limit: Int) {
    self.paint = paint
    self.isIndented = isIndented
    self.limit = limit
  }

  /// Returns false if the result exceeds the limit. It is then incomplete.
  private mutating func walk(_ text: String.UnicodeScalarView) -> Bool {
    var rest = text[...]
    while let scalar = rest.first {
      guard out.utf8.count <= limit else { return false }
      switch scalar {
      case " ", "\t", "\n", "\r", "\u{FEFF}": rest.removeFirst()
      case "{", "[": opening(scalar, &rest)
      case "}", "]":
        rest.removeFirst()
        closing(scalar)
      case ",":
        rest.removeFirst()
        out += ","
        newLine()
        awaitsKey = open.last ?? false
      case ":":
        rest.removeFirst()
        out += ": "
        awaitsKey = false
      case "\"": string(&rest)
      default: word(&rest)
      }
    }
    return true
  }

  private mutating func opening(_ scalar: Unicode.Scalar, _ rest: inout Substring.UnicodeScalarView) {
    rest.removeFirst()
    while let next = rest.first, next == " " || next == "\t" || next == "\n" || next == "\r" { rest.removeFirst() }
    out.unicodeScalars.append(scalar)
    if let next = rest.first, next == "}" || next == "]" {
      rest.removeFirst()
      return out.unicodeScalars.append(next)
    }
    open.append(scalar == "{")
    awaitsKey = scalar == "{"
    newLine()
  }

  private mutating func closing(_ scalar: Unicode.Scalar) {
    _ = open.popLast()
    newLine()
    out.unicodeScalars.append(scalar)
  }

  private mutating func newLine() {
    if isIndented { out += "\n" + String(repeating: "  ", count: min(open.count, Self.deepest)) }
  }

  private mutating func string(_ rest: inout Substring.UnicodeScalarView) {
    var end = rest.index(after: rest.startIndex)
    var isEscaped = false
    while end < rest.endIndex {
      let scalar = rest[end]
      end = rest.index(after: end)
      if scalar == "\"", !isEscaped { break }
      isEscaped = scalar == "\\" && !isEscaped
    }
    out += paint(awaitsKey ? .blue : .green, PlainText.visibleJSON(String(rest[..<end])))
    rest = rest[end...]
  }

  private mutating func word(_ rest: inout Substring.UnicodeScalarView) {
    let word = rest.prefix { !" \t\r\n,]}".unicodeScalars.contains($0) }
    rest = rest[word.endIndex...]
    let isName = word.first.map { "tfn".unicodeScalars.contains($0) } ?? false
    out += paint(isName ? .magenta : .cyan, PlainText.visibleJSON(String(word)))
  }
}
