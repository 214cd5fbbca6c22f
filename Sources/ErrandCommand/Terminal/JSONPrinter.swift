/// Indents and colours a JSON text without changing the order of members or the notation of numbers.
///
/// The text must be valid JSON, because this type reads the tokens of the text without checking them.
struct JSONPrinter {
  private let paint: Paint
  private var out = ""
  /// The open brackets, the innermost last. True means that the bracket belongs to an object, false that it belongs to
  /// an array.
  private var open: [Bool] = []
  private var awaitsKey = false

  /// The text with one line for each member, indented by two spaces for each level of nesting; without a line feed at
  /// the end.
  static func pretty(_ text: String, paint: Paint) -> String {
    var printer = JSONPrinter(paint: paint)
    printer.walk(text.unicodeScalars)
    return printer.out
  }

  private init(paint: Paint) { self.paint = paint }

  private mutating func walk(_ text: String.UnicodeScalarView) {
    var rest = text[...]
    while let scalar = rest.first {
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
    out += "\n" + String(repeating: "  ", count: open.count)
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
    out += paint(awaitsKey ? .blue : .green, PlainText.visible(String(rest[..<end])))
    rest = rest[end...]
  }

  private mutating func word(_ rest: inout Substring.UnicodeScalarView) {
    let word = rest.prefix { !" \t\r\n,]}".unicodeScalars.contains($0) }
    rest = rest[word.endIndex...]
    let isName = word.first.map { "tfn".unicodeScalars.contains($0) } ?? false
    out += paint(isName ? .magenta : .cyan, String(word))
  }
}
