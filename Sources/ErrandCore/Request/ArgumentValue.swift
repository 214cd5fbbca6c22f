public import Foundation

/// The value of one argument, before it is written as a query, a form or JSON.
public enum ArgumentValue: Sendable, Hashable {
  /// Nothing: the argument is left out. What an optional that is nil becomes.
  case omitted
  /// Null. ``ArgumentStyle/Nulls`` says how a query shows it; in JSON it is `null`.
  case null
  /// A truth value. ``ArgumentStyle/Booleans`` says how a query shows it.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A whole number past the range of `Int64`.
  case unsigned(UInt64)
  /// A number. One that is not finite fails the call.
  case number(Double)
  /// A text.
  case string(String)
  /// A moment. ``ArgumentStyle/Dates`` says how it is written.
  case date(Date)
  /// Several values. ``ArgumentStyle/Arrays`` says how a query shows them.
  case array([ArgumentValue])
  /// Named values. ``ArgumentStyle/Objects`` says how a query shows them.
  case object(Arguments)
}

/// A type whose values can be arguments: texts, numbers, truth values, dates, identifiers, arrays and dictionaries of
/// them, their optionals, and raw-value enumerations that adopt it.
public protocol ArgumentConvertible: Sendable {
  /// What is written for this value.
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
  /// The truth value.
  public var argumentValue: ArgumentValue { .bool(self) }
}
extension Double: ArgumentConvertible {
  /// The number.
  public var argumentValue: ArgumentValue { .number(self) }
}
extension Float: ArgumentConvertible {
  /// The number, in as many digits as tell it from its neighbours.
  public var argumentValue: ArgumentValue { .number(Double(description) ?? Double(self)) }
}
extension Decimal: ArgumentConvertible {
  /// The number; as a text in its own digits where no `Double` has all of them.
  public var argumentValue: ArgumentValue {
    guard let number = Double(description), Decimal(string: "\(number)") == self else { return .string(description) }
    return .number(number)
  }
}
extension Date: ArgumentConvertible {
  /// The moment.
  public var argumentValue: ArgumentValue { .date(self) }
}
extension UUID: ArgumentConvertible {
  /// The identifier in its usual form.
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
  /// The value, or nothing at all.
  public var argumentValue: ArgumentValue { self?.argumentValue ?? .omitted }
}
extension Array: ArgumentConvertible where Element: ArgumentConvertible {
  /// The values in order.
  public var argumentValue: ArgumentValue { .array(map(\.argumentValue)) }
}
extension Set: ArgumentConvertible where Element: ArgumentConvertible & Comparable {
  /// The values, sorted, so that equal sets are written alike.
  public var argumentValue: ArgumentValue { .array(sorted().map(\.argumentValue)) }
}
extension Dictionary: ArgumentConvertible where Key == String, Value: ArgumentConvertible {
  /// The values under their keys, sorted by key, so that equal dictionaries are written alike.
  public var argumentValue: ArgumentValue {
    .object(Arguments(sorted { $0.key < $1.key }.map { ($0.key, $0.value.argumentValue) }))
  }
}
