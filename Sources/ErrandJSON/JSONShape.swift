/// The required structure of a JSON document: types, required keys and constants.
///
/// ```swift
/// let shape: JSONShape = [
///   "nick": .string,
///   "level": .number,
///   "tags": [.string],
///   "address": .optional(["city": .string]),
///   "kind": .oneOf("a", "b"),
/// ]
/// ```
///
/// Objects may have more keys than the shape names. A key is required unless its shape is ``optional(_:)``. Null passes
/// only if the shape is ``nullable(_:)``, ``any`` or ``null``. `true` and `false` do not pass as numbers. A number of
/// any size passes: the shape does not check whether a Swift type can hold it.
public struct JSONShape: Sendable, Hashable {
  /// The rule that a shape applies to a value.
  indirect enum Rule: Sendable, Hashable {
    case any, null, bool, number, integer, string
    case constants([JSONValue])
    case array(JSONShape)
    case object([Field])
    case optional(JSONShape)
    case nullable(JSONShape)
    case anyOf([JSONShape])
  }

  /// A key of an object and the shape of its value.
  struct Field: Sendable, Hashable {
    let key: String
    let shape: JSONShape
  }

  let rule: Rule

  /// The shape that accepts any value, including null.
  public static let any = JSONShape(rule: .any)
  /// The shape that accepts only the value `null`.
  public static let null = JSONShape(rule: .null)
  /// The shape that accepts `true` and `false`.
  public static let bool = JSONShape(rule: .bool)
  /// The shape that accepts any number, with or without a fractional part.
  public static let number = JSONShape(rule: .number)
  /// The shape that accepts a number without a fractional part; `3.0` and `30e-1` pass, `3.5` does not. All digits of
  /// the text count, also those that a `Double` cannot represent.
  public static let integer = JSONShape(rule: .integer)
  /// The shape that accepts any string.
  public static let string = JSONShape(rule: .string)

  /// The shape that accepts the given constants: strings, numbers, `true` or `false`. Numbers compare by value, so `1`
  /// equals `1.0`.
  public static func oneOf(_ constants: JSONValue...) -> JSONShape { JSONShape(rule: .constants(constants)) }

  /// The shape that accepts the given constants, from a list made at run time.
  public static func oneOf(_ constants: [JSONValue]) -> JSONShape { JSONShape(rule: .constants(constants)) }

  /// The shape of an array whose elements all have the given shape; the empty array passes. The literal `[.string]`
  /// gives the shape of an array of strings.
  public static func array(of element: JSONShape) -> JSONShape { JSONShape(rule: .array(element)) }

  /// The shape of an object with the given fields; the object may have other fields, too. A dictionary literal creates
  /// such a shape.
  public static func object(_ fields: [String: JSONShape]) -> JSONShape {
    let sorted = fields.sorted { $0.key < $1.key }.map { Field(key: $0.key, shape: $0.value) }
    return JSONShape(rule: .object(sorted))
  }

  /// The shape of a field that may be missing. If the field is present, its value must have the given shape, so null
  /// passes only if the given shape accepts null.
  ///
  /// If an optional shape is the shape of a whole body, an empty body passes, too.
  public static func optional(_ shape: JSONShape) -> JSONShape { JSONShape(rule: .optional(shape)) }

  /// The shape that accepts null, and every value that has the given shape.
  public static func nullable(_ shape: JSONShape) -> JSONShape { JSONShape(rule: .nullable(shape)) }

  /// The shape that accepts every value that has at least one of the given shapes.
  public static func anyOf(_ shapes: JSONShape...) -> JSONShape { JSONShape(rule: .anyOf(shapes)) }

  /// The shape that accepts every value that has at least one of the given shapes, from a list made at run time. With
  /// the empty list, no value passes.
  public static func anyOf(_ shapes: [JSONShape]) -> JSONShape { JSONShape(rule: .anyOf(shapes)) }
}

extension JSONShape: ExpressibleByDictionaryLiteral {
  /// Creates the shape of an object with the given fields. If a key is given twice, the last shape counts.
  public init(dictionaryLiteral elements: (String, JSONShape)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

extension JSONShape: ExpressibleByArrayLiteral {
  /// Creates the shape of an array. `[.string]` is the shape of an array of strings, and `[]` is the shape of an array
  /// of any values. With several shapes, as in `[.string, .number]`, each element must have at least one of the shapes.
  public init(arrayLiteral elements: JSONShape...) {
    switch elements.count {
    case 0: self = .array(of: .any)
    case 1: self = .array(of: elements[0])
    default: self = .array(of: JSONShape(rule: .anyOf(elements)))
    }
  }
}

extension JSONShape: CustomStringConvertible {
  /// The expected value in words, for messages: `a string or null`, `one of "a", "b"`.
  public var description: String {
    switch rule {
    case .any: "any value"
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .integer: "an integer"
    case .string: "a string"
    case .constants(let constants): "one of " + constants.map(\.description).joined(separator: ", ")
    case .array: "an array"
    case .object: "an object"
    case .optional(let shape): shape.description
    case .nullable(let shape): "\(shape) or null"
    case .anyOf(let shapes): shapes.map(\.description).joined(separator: " or ")
    }
  }
}

/// The JSON of a body does not have the declared shape. The error has the path, the expectation and the value found.
///
/// The value is shown only if it is short and no key on its path suggests a secret. Otherwise only its type is shown,
/// and for a string its length.
public struct JSONShapeMismatch: Error, Sendable, Hashable {
  /// The kind of mismatch.
  public enum Kind: Sendable, Hashable {
    /// The body is empty.
    case emptyBody
    /// The body is not JSON.
    case notJSON
    /// A required key is missing.
    case missingKey
    /// A value has another type than the shape requires, or is not one of the allowed constants.
    case wrongValue
  }

  /// The kind of mismatch.
  public let kind: Kind
  /// The path of the mismatch; the root for a body that is empty or not JSON.
  public let path: JSONPath
  /// The value that the shape requires, in words: `a number`.
  public let expected: String
  /// The value at the path, in words: `the string "x"`, `a string (40 characters)`, `no such key`.
  public let found: String

  init(_ difference: ShapeDifference) {
    kind = difference.found == nil ? .missingKey : .wrongValue
    path = JSONPath(difference.stepsUpward.reversed())
    expected = difference.expected
    found = difference.found.map { [path] in $0.excerptInWords(at: path) } ?? "no such key"
  }

  init(_ error: JSONError, expected: String) {
    kind = error == .empty ? .emptyBody : .notJSON
    path = .root
    self.expected = expected
    found =
      switch error {
      case .empty: "an empty body"
      case .notJSON(let reason, let place): "a body that is not JSON (\(reason)\(place.map { " at \($0)" } ?? ""))"
      case .numberOutOfRange(let number): "a body with the number \(number), which is too large"
      default: "a body that cannot be read: \(error)"
      }
  }
}

extension JSONShapeMismatch: CustomStringConvertible {
  /// One sentence: `$.items[3].level: expected a number, found the string "x"`.
  public var description: String { "\(path): expected \(expected), found \(found)" }
}

extension JSONValue {
  /// Describes the value in words. The result is the value itself if it may be shown, otherwise the type of the value.
  func excerptInWords(at path: JSONPath) -> String {
    let isSecret = JSONMask.isSecret(path)
    switch content {
    case .null, .array, .object: return typeName
    case .string(let string) where isSecret || JSONMask.isLong(string): return "a string (\(string.count) characters)"
    case .string: return "the string \(self)"
    case .bool, .integer, .unsigned, .number:
      if isSecret { return typeName }
      return typeName == "a number" ? "the number \(messageText)" : "\(self)"
    }
  }
}
