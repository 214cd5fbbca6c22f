public import Foundation

/// Any JSON value: what a response holds when no type of its own is declared for it.
///
/// ```swift
/// let value: JSONValue = ["code": 0, "data": ["items": [["name": "Ada"]]]]
/// value["data"]["items"][0]["name"]?.stringValue  // "Ada"
/// ```
///
/// A value that was read from a text makes nothing before it is asked: it notes where in the text it lies, and holds
/// the text as long as it lives (``detached()`` gives one that does not). ``content`` shows what it is, one level at a
/// time.
///
/// Integers are kept exactly over the whole range of `Int64` and `UInt64`; every other number is a `Double`. Numbers
/// are compared by what they are worth, so `1` equals `1.0`; `true` is never a number. Values are written in the order
/// of their keys' characters; of equal keys in one object the first one counts.
public struct JSONValue: Sendable {
  /// What a value is.
  public enum Content: Sendable {
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
  }

  /// What a value is made of.
  enum Form {
    case made(Content)
    /// It lies in a text.
    case written(TapeDecoder)
  }

  /// How deep arrays and objects may be nested in a text or a value: 512 levels, as with Foundation's parser.
  public static let depthLimit = 512

  let form: Form

  init(_ form: Form) { self.form = form }

  /// A value with a content.
  public init(_ content: Content) { form = .made(content) }

  /// Reads a JSON text (RFC 8259) in UTF-8, or in UTF-16 or UTF-32, with or without a byte order mark.
  ///
  /// All of the text is judged here; its strings and numbers are made when they are asked for. Strict where Foundation
  /// is not: a comma before a closing bracket is refused.
  /// - Throws: ``JSONError``: empty, not JSON, nested too deeply, too long, or a number beyond `Double`.
  public init(parsing data: Data) throws(JSONError) {
    self = try TapeSource(try JSONDocument(data), rules: .standard).json(at: 0)
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

  /// What the value is: to be switched over. Of a value in a text one level is made, anew each time it is asked for.
  public var content: Content {
    switch form {
    case .made(let content): content
    case .written(let place): place.content
    }
  }

  /// The type in words with its article, as messages name it: `a string`, `true or false`, `an object`.
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

  /// The same value, made as a whole, so that it does not hold the text in which it lay.
  public func detached() -> JSONValue {
    guard case .written(let place) = form else { return self }
    return place.source.document.value(at: place.index)
  }
}

extension JSONValue {
  /// The word `null`.
  public static let null = JSONValue(Content.null)

  /// `true` or `false`.
  public static func bool(_ value: Bool) -> JSONValue { JSONValue(Content.bool(value)) }

  /// A whole number that fits `Int64`.
  public static func integer(_ value: Int64) -> JSONValue { JSONValue(Content.integer(value)) }

  /// A whole number that need not fit `Int64`.
  public static func unsigned(_ value: UInt64) -> JSONValue { JSONValue(Content.unsigned(value)) }

  /// Any number.
  public static func number(_ value: Double) -> JSONValue { JSONValue(Content.number(value)) }

  /// A text.
  public static func string(_ value: String) -> JSONValue { JSONValue(Content.string(value)) }

  /// A list.
  public static func array(_ elements: [JSONValue]) -> JSONValue { JSONValue(Content.array(elements)) }

  /// Values by name.
  public static func object(_ members: [String: JSONValue]) -> JSONValue { JSONValue(Content.object(members)) }
}

extension JSONValue {
  /// The value as a JSON text in UTF-8, keys in the order of their characters, so equal values give equal bytes.
  /// - Parameter pretty: Whether to write a line for each member, indented by two spaces.
  /// - Throws: ``JSONError``: a number that is not finite, or nesting beyond ``depthLimit``.
  public func serialized(pretty: Bool = false) throws(JSONError) -> Data {
    var writer = JSONWriter(pretty: pretty)
    try writer.write(self)
    return Data(writer.bytes)
  }
}

extension JSONValue: CustomStringConvertible {
  /// The JSON text on one line, secrets included. Numbers that are not finite appear as `null`, those of a text that no
  /// `Double` can hold as they stand there.
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
  /// `null`.
  public init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByBooleanLiteral {
  /// `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByFloatLiteral {
  /// A number with a fraction.
  public init(floatLiteral value: Double) { self = .number(value) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
  /// A list.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// Values by name; of a name that is given twice the last value counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

extension JSONValue: Hashable {
  /// Equal types and values; numbers are compared by what they are worth, however they are held.
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

  /// Feeds the value in, equal numbers alike.
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
  /// The same with a number in the first case that holds it exactly: integer, unsigned, number.
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
