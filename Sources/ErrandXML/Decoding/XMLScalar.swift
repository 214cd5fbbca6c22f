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
    if type == Double.self { return try required("a number", double) as? T }
    if type == Float.self { return try required("a number") { double($0).map { Float($0) } } as? T }
    if type == Decimal.self { return try required("a number", decimal) as? T }
    if type == Date.self { return try required("a date", decoder.dates.read) as? T }
    if type == Data.self { return try required("Base64", data) as? T }
    if type == URL.self { return try required("a URL") { URL(string: $0) } as? T }
    return nil
  }

  private func required<V>(_ due: String, _ read: (String) -> V?) throws -> V {
    let text = try decoder.text()
    let trimmed = text.trimmingCharacters(in: Self.space)
    if let value = read(trimmed) { return value }
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

  private func double(_ text: String) -> Double? {
    switch text {
    case "INF": .infinity
    case "-INF": -.infinity
    case "NaN": .nan
    default: Self.isDecimal(text) ? Double(text) : nil
    }
  }

  private func decimal(_ text: String) -> Decimal? {
    // `Decimal` accepts a number that is followed by other text. So the whole text is checked first.
    guard Self.isDecimal(text), Double(text) != nil else { return nil }
    return Decimal(string: text, locale: nil)
  }

  private static func isDecimal(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
  }

  private func data(_ text: String) -> Data? {
    Data(base64Encoded: String(text.filter { !$0.isWhitespace }))
  }
}
