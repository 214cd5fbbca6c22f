/// What a JSON document must look like to be accepted: types, required keys, constants.
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
/// Objects may have more keys than the shape names. A key must be there unless its shape is ``optional(_:)``; null does
/// not pass unless its shape is ``nullable(_:)``, ``any`` or ``null``. Truth values are no numbers. A number passes however
/// large it is: whether a type can hold it, reading it tells.
public struct JSONShape: Sendable, Hashable {
  /// The rule behind a shape.
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

  /// Any value at all, null included.
  public static let any = JSONShape(rule: .any)
  /// The word null.
  public static let null = JSONShape(rule: .null)
  /// `true` or `false`.
  public static let bool = JSONShape(rule: .bool)
  /// A number, whole or not.
  public static let number = JSONShape(rule: .number)
  /// A number without a fraction; `3.0` is one.
  public static let integer = JSONShape(rule: .integer)
  /// A text.
  public static let string = JSONShape(rule: .string)

  /// One of the given constants: strings, numbers, truth values; numbers compare by what they are worth.
  public static func oneOf(_ constants: JSONValue...) -> JSONShape { JSONShape(rule: .constants(constants)) }

  /// One of the given constants, from a list made at run time.
  public static func oneOf(_ constants: [JSONValue]) -> JSONShape { JSONShape(rule: .constants(constants)) }

  /// A list whose every element has one shape; the empty list passes. The literal `[.string]` means the same.
  public static func array(of element: JSONShape) -> JSONShape { JSONShape(rule: .array(element)) }

  /// An object with these fields and any others. A dictionary literal means the same.
  public static func object(_ fields: [String: JSONShape]) -> JSONShape {
    let sorted = fields.sorted { $0.key < $1.key }.map { Field(key: $0.key, shape: $0.value) }
    return JSONShape(rule: .object(sorted))
  }

  /// A field that may be missing; if it is there, it has the shape, so null passes only if that shape lets it.
  ///
  /// For a whole body: an empty body passes, too.
  public static func optional(_ shape: JSONShape) -> JSONShape { JSONShape(rule: .optional(shape)) }

  /// A value that may be null.
  public static func nullable(_ shape: JSONShape) -> JSONShape { JSONShape(rule: .nullable(shape)) }

  /// A value that has at least one of the shapes.
  public static func anyOf(_ shapes: JSONShape...) -> JSONShape { JSONShape(rule: .anyOf(shapes)) }

  /// A value that has at least one of the shapes, from a list made at run time. The empty list lets nothing pass.
  public static func anyOf(_ shapes: [JSONShape]) -> JSONShape { JSONShape(rule: .anyOf(shapes)) }
}

extension JSONShape: ExpressibleByDictionaryLiteral {
  /// An object with these fields; of a key that is given twice the last shape counts.
  public init(dictionaryLiteral elements: (String, JSONShape)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

extension JSONShape: ExpressibleByArrayLiteral {
  /// A list: `[.string]` of one shape, `[]` of anything, `[.string, .number]` of elements that have one of the shapes.
  public init(arrayLiteral elements: JSONShape...) {
    switch elements.count {
    case 0: self = .array(of: .any)
    case 1: self = .array(of: elements[0])
    default: self = .array(of: JSONShape(rule: .anyOf(elements)))
    }
  }
}

extension JSONShape: CustomStringConvertible {
  /// What is expected in words, as messages say it: `a string or null`, `one of "a", "b"`.
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
