public import Foundation

/// Any JSON value: what a response holds when no type of its own is declared for it.
///
/// ```swift
/// let value: JSONValue = ["code": 0, "data": ["items": [["name": "Ada"]]]]
/// value["data"]["items"][0]["name"]?.stringValue  // "Ada"
/// ```
///
/// Integers are kept exactly over the whole range of `Int64` and `UInt64`; every other number is a `Double`. Numbers are
/// compared by what they are worth, so `1` equals `1.0`; `true` is never a number. Objects do not remember the order of
/// their keys and are written in the order of their keys' characters; of equal keys in one object the last one counts.
public enum JSONValue: Sendable {
  /// The word `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A whole number that fits `Int64`.
  case integer(Int64)
  /// A whole number, used by parsing and by `JSONValue(_:)` only for those above `Int64.max`.
  case unsigned(UInt64)
  /// Any other number.
  case number(Double)
  /// A text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Values by name.
  case object([String: JSONValue])

  /// How deep arrays and objects may be nested in a text or a value: 512 levels, as with Foundation's parser.
  public static let depthLimit = 512

  /// Reads a JSON text (RFC 8259) in UTF-8, or in UTF-16 or UTF-32, with or without a byte order mark.
  ///
  /// Strict where Foundation is not: a comma before a closing bracket is refused.
  /// - Throws: ``JSONError``: empty, not JSON, nested too deeply, too long, or a number beyond `Double`.
  public init(parsing data: Data) throws(JSONError) {
    self = try JSONDocument(data).value()
  }

  /// The smallest case that holds a whole number; one beyond `UInt64` becomes a `Double`.
  public init(_ integer: some BinaryInteger) {
    if let small = Int64(exactly: integer) {
      self = .integer(small)
    } else if let large = UInt64(exactly: integer) {
      self = .unsigned(large)
    } else {
      self = .number(Double(integer))
    }
  }

  /// The type in words with its article, as messages name it: `a string`, `true or false`, `an object`.
  package var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer, .unsigned, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
