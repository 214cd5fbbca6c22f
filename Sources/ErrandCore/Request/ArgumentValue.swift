import ErrandSupport
public import Foundation

/// The value of one argument, before it is written as a query, a form body or JSON.
public enum ArgumentValue: Sendable, Hashable {
  /// The argument, or the element of a list, has no value and is left out. An optional that is nil becomes this case.
  case omitted
  /// The value null. ``ArgumentStyle/Nulls`` determines how null is written in a query; in JSON it is `null`.
  case null
  /// A Boolean value. ``ArgumentStyle/Booleans`` determines how it is written in a query.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A whole number above the range of `Int64`.
  case unsigned(UInt64)
  /// A floating-point number. If it is infinite or not a number, the call fails.
  case number(Double)
  /// A text.
  case string(String)
  /// A date. ``ArgumentStyle/Dates`` determines how it is written. In JSON, the date strategy of
  /// ``Formats/jsonEncoding`` does, unless it is `.deferredToDate`.
  case date(Date)
  /// Bytes. They are written in Base64. In JSON, the data strategy of ``Formats/jsonEncoding`` determines how they are
  /// written.
  case data(Data)
  /// A list of values. ``ArgumentStyle/Arrays`` determines how it is written in a query.
  case array([ArgumentValue])
  /// An object, which contains named values. ``ArgumentStyle/Objects`` determines how it is written in a query.
  case object(Arguments)

  /// Whether the value is ``omitted``. A comparison by `==` takes longer, because it compares bytes.
  var isOmitted: Bool { if case .omitted = self { true } else { false } }
}

extension ArgumentValue: ComparedByBytes {
  private enum Compared: Hashable {
    case omitted, null, bool(Bool), integer(Int64), unsigned(UInt64), number(Double), string(ByteText), date(Date)
    case data(Data)
    case array([ArgumentValue]), object(Arguments)
  }

  package var identity: some Hashable {
    let compared: Compared =
      switch self {
      case .omitted: .omitted
      case .null: .null
      case .bool(let value): .bool(value)
      case .integer(let value): .integer(value)
      case .unsigned(let value): .unsigned(value)
      case .number(let value): .number(value)
      case .string(let value): .string(ByteText(value))
      case .date(let value): .date(value)
      case .data(let value): .data(value)
      case .array(let values): .array(values)
      case .object(let value): .object(value)
      }
    return compared
  }
}

/// A type whose values can be arguments: strings, numbers, Booleans, dates, UUIDs, URLs, optionals, arrays, and
/// dictionaries with string keys. An enumeration with raw values becomes such a type if it declares conformance to this
/// protocol.
public protocol ArgumentConvertible: Sendable {
  /// This value in the form in which a request takes arguments.
  var argumentValue: ArgumentValue { get }
}

extension ArgumentValue: ArgumentConvertible {
  /// The value itself, because it is already an argument value.
  public var argumentValue: ArgumentValue { self }
}
extension String: ArgumentConvertible {
  /// The string as an argument.
  public var argumentValue: ArgumentValue { .string(self) }
}
extension Substring: ArgumentConvertible {
  /// The substring as an argument.
  public var argumentValue: ArgumentValue { .string(String(self)) }
}
extension Bool: ArgumentConvertible {
  /// The Boolean value as an argument.
  public var argumentValue: ArgumentValue { .bool(self) }
}
extension Double: ArgumentConvertible {
  /// The number as an argument.
  public var argumentValue: ArgumentValue { .number(self) }
}
extension Float: ArgumentConvertible {
  /// The number as an argument, with the digits of its description. So a `Float` of 0.1 is sent as `0.1`.
  public var argumentValue: ArgumentValue { .number(Double(description) ?? Double(self)) }
}
extension Decimal: ArgumentConvertible {
  /// The number as an argument. If no `Double` represents the number exactly, the argument is a string with all digits.
  /// If the value is not a number, the call fails.
  public var argumentValue: ArgumentValue {
    guard isFinite else { return .number(.nan) }
    guard let number = Double(description), Decimal(string: "\(number)") == self else { return .string(description) }
    return .number(number)
  }
}
extension Date: ArgumentConvertible {
  /// The date as an argument.
  public var argumentValue: ArgumentValue { .date(self) }
}
extension UUID: ArgumentConvertible {
  /// The UUID as an argument: a text such as `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
  public var argumentValue: ArgumentValue { .string(uuidString) }
}
extension URL: ArgumentConvertible {
  /// The text of the URL as an argument.
  public var argumentValue: ArgumentValue { .string(absoluteString) }
}

extension ArgumentValue {
  /// A whole number. A number beyond the ranges of `Int64` and `UInt64` becomes a string of digits.
  init(whole number: some FixedWidthInteger) {
    if let integer = Int64(exactly: number) {
      self = .integer(integer)
    } else {
      self = UInt64(exactly: number).map { .unsigned($0) } ?? .string("\(number)")
    }
  }
}
extension ArgumentConvertible where Self: FixedWidthInteger {
  /// The whole number as an argument. A number beyond the ranges of `Int64` and `UInt64` becomes a string of digits.
  public var argumentValue: ArgumentValue { ArgumentValue(whole: self) }
}
extension Int: ArgumentConvertible {}
extension Int8: ArgumentConvertible {}
extension Int16: ArgumentConvertible {}
extension Int32: ArgumentConvertible {}
extension Int64: ArgumentConvertible {}
extension UInt: ArgumentConvertible {}
extension UInt8: ArgumentConvertible {}
extension UInt16: ArgumentConvertible {}
extension UInt32: ArgumentConvertible {}
extension UInt64: ArgumentConvertible {}

extension ArgumentConvertible where Self: RawRepresentable, RawValue: ArgumentConvertible {
  /// The raw value as an argument.
  public var argumentValue: ArgumentValue { rawValue.argumentValue }
}
extension Optional: ArgumentConvertible where Wrapped: ArgumentConvertible {
  /// The wrapped value as an argument; `ArgumentValue.omitted` for nil.
  public var argumentValue: ArgumentValue { self?.argumentValue ?? .omitted }
}
extension Array: ArgumentConvertible where Element: ArgumentConvertible {
  /// The elements of the array as a list of values, in order.
  public var argumentValue: ArgumentValue { .array(map(\.argumentValue)) }
}
extension Set: ArgumentConvertible where Element: ArgumentConvertible & Comparable {
  /// The elements of the set as a list of values. The elements are sorted, so that equal sets are written as equal
  /// texts.
  public var argumentValue: ArgumentValue { .array(sorted().map(\.argumentValue)) }
}
extension Dictionary: ArgumentConvertible where Key == String, Value: ArgumentConvertible {
  /// The dictionary as an object. The members are sorted by key, so that equal dictionaries are written as equal texts.
  public var argumentValue: ArgumentValue {
    .object(Arguments(sorted { $0.key < $1.key }.map { ($0.key, $0.value.argumentValue) }))
  }
}
