import Foundation

/// The path of a value in a JSON document: keys and indices from the root downward.
///
/// A literal has the form `data.items[0].name`, with or without `$.` at the start. Write a key with special characters
/// in brackets and quotation marks, with the escapes of JSON: `["a.b"].c`. The description follows RFC 9535:
/// `$.data.items[0].name`, `$["a.b"].c`.
public struct JSONPath: Sendable, Hashable {
  /// One step of a path: from an object or array to one of its values.
  public enum Step: Sendable, Hashable {
    /// The step from an object to the value of this key.
    case key(String)
    /// The step from an array to the element at this index, counted from 0.
    case index(Int)
  }

  /// The steps from the root; empty for the root itself.
  public let steps: [Step]

  /// The path of the whole document, printed as `$`.
  public static let root = JSONPath([])

  /// Creates a path from the given steps.
  package init(_ steps: [Step]) {
    self.steps = steps
  }

  /// The path of a member of the object at this path.
  package func appending(key: String) -> JSONPath { JSONPath(steps + [.key(key)]) }

  /// The path of an element of the array at this path.
  package func appending(index: Int) -> JSONPath { JSONPath(steps + [.index(index)]) }

  /// The path of the object or array that contains the value at this path; nil for the root.
  package var parent: JSONPath? { steps.isEmpty ? nil : JSONPath(Array(steps.dropLast())) }
}

extension JSONPath: CustomStringConvertible {
  /// The path as text, beginning with `$`, in the notation of RFC 9535. Keys have double instead of single quotation
  /// marks.
  public var description: String {
    steps.reduce(into: "$") { text, step in
      switch step {
      case .index(let index): text += "[\(index)]"
      case .key(let key) where Self.isPlain(key): text += ".\(key)"
      case .key(let key): text += "[\(JSONValue.string(key))]"
      }
    }
  }

  /// Whether a key can be printed without quotation marks: it has only letters, digits and `_`, and does not begin with
  /// a digit.
  private static func isPlain(_ key: String) -> Bool {
    guard let first = key.unicodeScalars.first, !("0"..."9" ~= first) else { return false }
    return key.unicodeScalars.allSatisfy { $0 == "_" || "0"..."9" ~= $0 || $0.properties.isAlphabetic }
  }
}

extension JSONPath {
  /// Parses a path such as `data.items[0].name`; the empty text and `$` are the root.
  /// - Throws: ``JSONError/malformedPath(_:)``.
  public init(parsing text: String) throws(JSONError) {
    var reader = JSONPathReader(text)
    guard let steps = reader.readAll() else { throw JSONError.malformedPath(text) }
    self.init(steps)
  }
}

extension JSONPath: ExpressibleByStringLiteral {
  /// Parses a path from a literal. A literal with the wrong syntax becomes a single key, which then appears in
  /// messages.
  public init(stringLiteral text: String) {
    var reader = JSONPathReader(text)
    self.init(reader.readAll() ?? [.key(text)])
  }
}

/// Parses the steps of a path by Unicode scalars, so that a combining mark after a delimiter does not hide the
/// delimiter.
private struct JSONPathReader {
  private var rest: Substring.UnicodeScalarView

  init(_ text: String) {
    rest = text.unicodeScalars[...]
    let afterRoot = rest.dropFirst()
    if rest.first == "$", afterRoot.isEmpty || afterRoot.first == "." || afterRoot.first == "[" {
      rest = afterRoot
    } else if let first = rest.first, first != "[", first != "." {
      rest = ("." + text).unicodeScalars[...]
    }
  }

  /// All steps; nil if the text is not a valid path.
  mutating func readAll() -> [JSONPath.Step]? {
    var steps: [JSONPath.Step] = []
    while let sign = rest.popFirst() {
      guard let step = sign == "." ? readName() : sign == "[" ? readBracket() : nil else { return nil }
      steps.append(step)
    }
    return steps
  }

  private mutating func readName() -> JSONPath.Step? {
    let name = rest.prefix { $0 != "." && $0 != "[" && $0 != "]" }
    rest = rest[name.endIndex...]
    return name.isEmpty ? nil : .key(String(name))
  }

  private mutating func readBracket() -> JSONPath.Step? {
    if rest.first == "\"" { return readQuoted() }
    let digits = rest.prefix { "0"..."9" ~= $0 }
    rest = rest[digits.endIndex...]
    guard let index = Int(Substring(digits)), rest.popFirst() == "]" else { return nil }
    return .index(index)
  }

  private mutating func readQuoted() -> JSONPath.Step? {
    var escaped = false
    let inner = rest.dropFirst().prefix { sign in
      defer { escaped = !escaped && sign == "\\" }
      return escaped || sign != "\""
    }
    let quoted = "\"" + Substring(inner) + "\""
    rest = rest[inner.endIndex...].dropFirst()
    guard rest.popFirst() == "]", let key = (try? JSONValue(parsing: Data(quoted.utf8)))?.stringValue else {
      return nil
    }
    return .key(key)
  }
}
