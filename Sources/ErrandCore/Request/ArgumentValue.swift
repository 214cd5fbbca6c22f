public import Foundation

/// The value of one argument, before it is written as a query, a form or JSON.
public enum ArgumentValue: Sendable, Hashable {
  /// No value: the argument is left out. An optional that is nil has this value.
  case omitted
  /// The value null. ``ArgumentStyle/Nulls`` sets its form in a query; in JSON it is `null`.
  case null
  /// A Boolean value. ``ArgumentStyle/Booleans`` sets its form in a query.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A whole number above the range of `Int64`.
  case unsigned(UInt64)
  /// A floating-point number. If it is infinite or not a number, the call fails.
  case number(Double)
  /// A text.
  case string(String)
  /// A date. ``ArgumentStyle/Dates`` sets its form.
  case date(Date)
  /// Several values. ``ArgumentStyle/Arrays`` sets their form in a query.
  case array([ArgumentValue])
  /// Named values. ``ArgumentStyle/Objects`` sets their form in a query.
  case object(Arguments)
}

/// A type whose values can be arguments: strings, numbers, Booleans, dates, UUIDs, URLs, optionals, arrays, and
/// dictionaries with string keys. An enumeration with raw values becomes such a type if it declares the conformance.
public protocol ArgumentConvertible: Sendable {
  /// The argument for this value.
  var argumentValue: ArgumentValue { get }
}

extension ArgumentValue: ArgumentConvertible {
  /// The value itself.
  public var argumentValue: ArgumentValue { self }
}
extension String: ArgumentConvertible {
  /// The text.
  public var argumentValue: ArgumentValue { .string(self) }
}
extension Substring: ArgumentConvertible {
  /// The text.
  public var argumentValue: ArgumentValue { .string(String(self)) }
}
extension Bool: ArgumentConvertible {
  /// The Boolean value.
  public var argumentValue: ArgumentValue { .bool(self) }
}
extension Double: ArgumentConvertible {
  /// The number.
  public var argumentValue: ArgumentValue { .number(self) }
}
extension Float: ArgumentConvertible {
  /// The number, with the fewest digits that distinguish it from its neighbours.
  public var argumentValue: ArgumentValue { .number(Double(description) ?? Double(self)) }
}
extension Decimal: ArgumentConvertible {
  /// The number. If no `Double` represents it exactly, a string with all its digits.
  public var argumentValue: ArgumentValue {
    guard let number = Double(description), Decimal(string: "\(number)") == self else { return .string(description) }
    return .number(number)
  }
}
extension Date: ArgumentConvertible {
  /// The date.
  public var argumentValue: ArgumentValue { .date(self) }
}
extension UUID: ArgumentConvertible {
  /// The identifier as text, such as `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
  public var argumentValue: ArgumentValue { .string(uuidString) }
}
extension URL: ArgumentConvertible {
  /// The URL's text.
  public var argumentValue: ArgumentValue { .string(absoluteString) }
}

extension ArgumentConvertible where Self: FixedWidthInteger {
  /// The whole number.
  public var argumentValue: ArgumentValue {
    if let integer = Int64(exactly: self) { return .integer(integer) }
    return UInt64(exactly: self).map { .unsigned($0) } ?? .string(description)
  }
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
  /// The raw value.
  public var argumentValue: ArgumentValue { rawValue.argumentValue }
}
extension Optional: ArgumentConvertible where Wrapped: ArgumentConvertible {
  /// The value; `ArgumentValue.omitted` for nil.
  public var argumentValue: ArgumentValue { self?.argumentValue ?? .omitted }
}
extension Array: ArgumentConvertible where Element: ArgumentConvertible {
  /// The values in order.
  public var argumentValue: ArgumentValue { .array(map(\.argumentValue)) }
}
extension Set: ArgumentConvertible where Element: ArgumentConvertible & Comparable {
  /// The values, sorted, so that equal sets have equal text.
  public var argumentValue: ArgumentValue { .array(sorted().map(\.argumentValue)) }
}
extension Dictionary: ArgumentConvertible where Key == String, Value: ArgumentConvertible {
  /// The values under their keys, sorted by key, so that equal dictionaries have equal text.
  public var argumentValue: ArgumentValue {
    .object(Arguments(sorted { $0.key < $1.key }.map { ($0.key, $0.value.argumentValue) }))
  }
}
