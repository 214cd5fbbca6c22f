public import Foundation

/// Any JSON value: the content of a response for which no Swift type is declared.
///
/// ```swift
/// let value: JSONValue = ["code": 0, "data": ["items": [["name": "Ada"]]]]
/// value["data"]["items"][0]["name"]?.stringValue  // "Ada"
/// ```
///
/// A parsed value is lazy: it stores its position in the text, and creates strings and numbers on request. The value
/// keeps the text in memory as long as the value exists. ``detached()`` gives a value that does not keep the text.
/// ``content`` gives one level of the value at a time.
///
/// Integers are exact over the whole range of `Int64` and `UInt64`; every other number is a `Double`. Numbers compare
/// by value, so `1` equals `1.0`. `true` and `false` are never numbers. Members are written in the order of their keys'
/// characters. If an object has equal keys, the first key is used.
public struct JSONValue: Sendable {
  /// The type and the content of a value. The members of an array or object are separate `JSONValue` values.
  public enum Content: Sendable {
    /// The value `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// An integer that fits `Int64`.
    case integer(Int64)
    /// An integer. Parsing and `JSONValue(_:)` use this case only for integers above `Int64.max`.
    case unsigned(UInt64)
    /// Any other number.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object: values by key.
    case object([String: JSONValue])
  }

  /// The storage of a value.
  enum Form {
    /// The value was created in memory.
    case made(Content)
    /// The value is part of a parsed text.
    case written(TapeDecoder)
  }

  /// The maximum nesting of arrays and objects in a text or a value: 512 levels, as in Foundation's parser.
  package static let depthLimit = 512

  let form: Form

  init(_ form: Form) { self.form = form }

  /// A value with the given content.
  package init(_ content: Content) { form = .made(content) }

  /// Parses a JSON text (RFC 8259) in UTF-8, UTF-16 or UTF-32, with or without a byte order mark.
  ///
  /// The parser validates the whole text; strings and numbers are created on request. It is stricter than Foundation: a
  /// comma before a closing bracket is an error.
  /// - Throws: ``JSONError`` if the text is empty, not JSON, nested too deeply or too long, or if a number exceeds the
  ///   range of `Double`.
  public init(parsing data: Data) throws(JSONError) {
    self = try TapeSource(try JSONDocument(data), rules: .standard).json(at: 0)
  }

  /// Creates an integer: in the case `integer` if it fits `Int64`, in the case `unsigned` if it fits `UInt64`. A larger
  /// integer becomes a `Double`.
  public init(_ integer: some BinaryInteger) {
    if let small = Int64(exactly: integer) {
      self = .integer(small)
    } else if let large = UInt64(exactly: integer) {
      self = .unsigned(large)
    } else {
      self = .number(Double(integer))
    }
  }

  /// The content of the value, for `switch` statements. For a parsed value, each access creates one level of the
  /// content again.
  public var content: Content {
    switch form {
    case .made(let content): content
    case .written(let place): place.content
    }
  }

  /// The name of the value's type in messages, with an article: `a string`, `true or false`, `an object`.
  package var typeName: String {
    switch content {
    case .null: "null"
    case .bool: "true or false"
    case .integer, .unsigned, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// A complete copy of the value. Unlike a parsed value, the copy does not keep the parsed text in memory.
  public func detached() -> JSONValue {
    guard case .written(let place) = form else { return self }
    return place.source.document.value(at: place.index)
  }
}

extension JSONValue {
  /// The value `null`.
  public static let null = JSONValue(Content.null)

  /// `true` or `false`.
  public static func bool(_ value: Bool) -> JSONValue { JSONValue(Content.bool(value)) }

  /// An integer that fits `Int64`.
  public static func integer(_ value: Int64) -> JSONValue { JSONValue(Content.integer(value)) }

  /// An integer that may exceed `Int64`.
  public static func unsigned(_ value: UInt64) -> JSONValue { JSONValue(Content.unsigned(value)) }

  /// Any number.
  public static func number(_ value: Double) -> JSONValue { JSONValue(Content.number(value)) }

  /// A string.
  public static func string(_ value: String) -> JSONValue { JSONValue(Content.string(value)) }

  /// An array.
  public static func array(_ elements: [JSONValue]) -> JSONValue { JSONValue(Content.array(elements)) }

  /// An object: values by key.
  public static func object(_ members: [String: JSONValue]) -> JSONValue { JSONValue(Content.object(members)) }
}

extension JSONValue {
  /// The value as a JSON text in UTF-8. Keys are sorted by their characters, so that equal values give equal bytes.
  /// - Parameter pretty: Whether to write each member on its own line, indented by two spaces.
  /// - Throws: ``JSONError`` if a number is not finite, or the value is nested deeper than 512 levels.
  public func serialized(pretty: Bool = false) throws(JSONError) -> Data {
    var writer = JSONWriter(pretty: pretty)
    try writer.write(self)
    return Data(writer.bytes)
  }
}

extension JSONValue: CustomStringConvertible {
  /// The JSON text on one line, including secrets. Numbers that are not finite appear as `null`. Numbers of a parsed
  /// text that exceed the range of `Double` appear as in the text.
  public var description: String {
    var writer = JSONWriter(strict: false)
    do throws(JSONError) {
      try writer.write(self)
    } catch {
      return error.description
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension JSONValue: ExpressibleByNilLiteral {
  /// Creates the value `null`.
  public init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByBooleanLiteral {
  /// Creates the value `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
  /// Creates an integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByFloatLiteral {
  /// Creates a number from a literal with a fraction.
  public init(floatLiteral value: Double) { self = .number(value) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
  /// Creates an array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// Creates an object. If a key is given twice, the last value counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

extension JSONValue: Hashable {
  /// Whether two values are equal. Numbers compare by value, independent of their case in ``JSONValue/Content``.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left.content.simplest, right.content.simplest) {
    case (.null, .null): true
    case (.bool(let one), .bool(let two)): one == two
    case (.integer(let one), .integer(let two)): one == two
    case (.unsigned(let one), .unsigned(let two)): one == two
    case (.number(let one), .number(let two)): one == two
    case (.string(let one), .string(let two)): one == two
    case (.array(let one), .array(let two)): one == two
    case (.object(let one), .object(let two)): one == two
    default: false
    }
  }

  /// Hashes the value. Equal numbers have equal hashes, whatever their case in ``JSONValue/Content``.
  public func hash(into hasher: inout Hasher) {
    switch content.simplest {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .unsigned(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    }
  }
}

extension JSONValue.Content {
  /// The content. A number is converted to the first case that can hold it exactly: `integer`, `unsigned`, `number`.
  fileprivate var simplest: JSONValue.Content {
    switch self {
    case .unsigned(let value):
      return Int64(exactly: value).map { .integer($0) } ?? self
    case .number(let value):
      if let whole = Int64(exactly: value) { return .integer(whole) }
      return UInt64(exactly: value).map { .unsigned($0) } ?? self
    default:
      return self
    }
  }
}
