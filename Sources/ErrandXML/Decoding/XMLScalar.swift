import Foundation

/// Decodes values that XML represents as a single text, such as numbers and dates.
struct XMLScalar {
  private let decoder: XMLValueDecoder

  init(_ decoder: XMLValueDecoder) { self.decoder = decoder }

  /// Decodes a value of the given type. Returns nil if XML does not represent the type as a single text.
  func value<T>(as type: T.Type) throws -> T? {
    if type == String.self { return try decoder.text() as? T }
    if type == Bool.self { return try required("true, false, 1 or 0", bool) as? T }
    if let integer = type as? any FixedWidthInteger.Type {
      return try required("\(type)") { number(integer, $0) } as? T
    }
    if type == Double.self { return try required("a number") { try number(Double.self, $0) } as? T }
    if type == Float.self { return try required("a number") { try number(Float.self, $0) } as? T }
    if type == Decimal.self { return try required("a number", decimal) as? T }
    if type == Date.self { return try required("a date", decoder.dates.read) as? T }
    if type == Data.self { return try required("Base64", data) as? T }
    if type == URL.self { return try required("a URL") { URL(string: $0) } as? T }
    return nil
  }

  /// Decodes a whole number.
  func integer<Number: FixedWidthInteger>(as type: Number.Type) throws -> Number {
    try required("\(type)") { Number($0, radix: 10) }
  }

  private func required<V>(_ due: String, _ read: (String) throws -> V?) throws -> V {
    let text = try decoder.text()
    let trimmed = text.trimmingCharacters(in: Self.space)
    if let value = try read(trimmed) { return value }
    throw decoder.failure("expected \(due), found \(trimmed.isEmpty ? "nothing" : "other text")")
  }

  private static let space = CharacterSet(charactersIn: " \t\r\n")

  private func bool(_ text: String) -> Bool? {
    switch text {
    case "true", "1": true
    case "false", "0": false
    default: nil
    }
  }

  private func number(_ type: (some FixedWidthInteger).Type, _ text: String) -> Any? { type.init(text, radix: 10) }

  /// Returns a binary floating-point number. The literals of XML Schema are the only infinite values.
  private func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ type: Number.Type, _ text: String
  ) throws -> Number? {
    switch text {
    case "INF": return .infinity
    case "-INF": return -.infinity
    case "NaN": return .nan
    default: break
    }
    guard Self.isDecimal(text), let number = Number(text) else { return nil }
    guard number.isFinite else { throw outOfRange(type) }
    return number
  }

  private func decimal(_ text: String) throws -> Decimal? {
    // `Decimal` accepts a number that is followed by other text. So the whole text is checked first.
    guard Self.isDecimal(text), Double(text) != nil else { return nil }
    guard let decimal = Decimal(string: text, locale: nil), decimal.isFinite else { throw outOfRange(Decimal.self) }
    return decimal
  }

  private func outOfRange(_ type: any Any.Type) -> XMLMismatch { decoder.failure("the number does not fit \(type)") }

  private static func isDecimal(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
  }

  private func data(_ text: String) -> Data? {
    Data(base64Encoded: String(text.filter { !$0.isWhitespace }))
  }
}
