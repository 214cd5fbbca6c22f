import Foundation

/// Where a value lies in a JSON document: keys and indices from the root downward.
///
/// Written as a literal, `data.items[0].name`, with or without `$.` before it; odd keys stand in brackets and quotation
/// marks, `["a.b"].c`, with the escapes of JSON. Printed as in RFC 9535: `$.data.items[0].name`, `$["a.b"].c`.
public struct JSONPath: Sendable, Hashable {
  /// One step downward.
  public enum Step: Sendable, Hashable {
    /// To the value of a key of an object.
    case key(String)
    /// To an element of an array, counted from 0.
    case index(Int)
  }

  /// The steps from the root; none for the root itself.
  public let steps: [Step]

  /// The path of the whole document, printed as `$`.
  public static let root = JSONPath([])

  /// A path of given steps.
  public init(_ steps: [Step]) {
    self.steps = steps
  }

  /// The path of a member of the object at this path.
  public func appending(key: String) -> JSONPath { JSONPath(steps + [.key(key)]) }

  /// The path of an element of the array at this path.
  public func appending(index: Int) -> JSONPath { JSONPath(steps + [.index(index)]) }

  /// The path of what contains the value at this path; nil for the root.
  package var parent: JSONPath? { steps.isEmpty ? nil : JSONPath(Array(steps.dropLast())) }
}

extension JSONPath: CustomStringConvertible {
  /// The path from `$`, in the notation of RFC 9535 (single quotation marks replaced by double ones).
  public var description: String {
    steps.reduce(into: "$") { text, step in
      switch step {
      case .index(let index): text += "[\(index)]"
      case .key(let key) where Self.isPlain(key): text += ".\(key)"
      case .key(let key): text += "[\(JSONValue.string(key))]"
      }
    }
  }

  /// Whether a key can be printed without quotation marks: letters, digits and `_`, no digit first.
  private static func isPlain(_ key: String) -> Bool {
    guard let first = key.unicodeScalars.first, !("0"..."9" ~= first) else { return false }
    return key.unicodeScalars.allSatisfy { $0 == "_" || "0"..."9" ~= $0 || $0.properties.isAlphabetic }
  }
}

extension JSONPath {
  /// Reads a path like `data.items[0].name`; the empty text and `$` are the root.
  /// - Throws: ``JSONError/malformedPath(_:)``.
  public init(parsing text: String) throws(JSONError) {
    var reader = JSONPathReader(text)
    guard let steps = reader.readAll() else { throw JSONError.malformedPath(text) }
    self.init(steps)
  }
}

extension JSONPath: ExpressibleByStringLiteral {
  /// Reads a path from a literal. One that cannot be read is taken as a single key, which then shows in messages.
  public init(stringLiteral text: String) {
    var reader = JSONPathReader(text)
    self.init(reader.readAll() ?? [.key(text)])
  }
}

/// Reads the steps of a path from its text, by Unicode scalars: a sign of the path counts whatever mark stands beside
/// it.
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

  /// All steps; nil if the text is no path.
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
