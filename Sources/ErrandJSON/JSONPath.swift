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
