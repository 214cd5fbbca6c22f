import Foundation

extension JSONDocument {
  /// The text of a string or a key.
  func string(_ word: JSONWord) -> String {
    JSONBytes.string(text + word.place, word.length, isEscaped: word.kind == .escaped)
  }

  /// The text of a number, as it was written.
  func numeral(_ word: JSONWord) -> String { JSONBytes.string(text + word.place, word.length, isEscaped: false) }

  /// A number of digits alone as it is, where the type has room for it.
  func integer<Number: FixedWidthInteger>(_ word: JSONWord, as type: Number.Type = Number.self) -> Number? {
    let isNegative = text[word.place] == UInt8(ascii: "-")
    let start = isNegative ? 1 : 0
    // Nineteen digits fit 64 bits whatever they are.
    guard word.length - start < 20 else { return long(word) }
    var magnitude: UInt64 = 0
    for index in start..<word.length {
      magnitude = magnitude &* 10 &+ UInt64(text[word.place + index] &- UInt8(ascii: "0"))
    }
    guard isNegative else { return Number(exactly: magnitude) }
    return magnitude <= UInt64(Int64.max) ? Number(exactly: -Int64(magnitude)) : long(word)
  }

  private func long<Number: FixedWidthInteger>(_ word: JSONWord) -> Number? { Number(numeral(word)) }

  /// A whole number however it is written, `1.0` and `1e2` too, where the type has room for it.
  func whole<Number: FixedWidthInteger>(_ word: JSONWord, as type: Number.Type = Number.self) -> Number? {
    if word.kind == .integer { return integer(word) }
    // From 2^53 on a Double may be the nearest to what was written instead of the number itself.
    if let double = double(word), double.magnitude < 0x1p53 { return Number(exactly: double) }
    guard let decimal = decimal(word), decimal.isFinite else { return nil }
    return Number("\(decimal)")
  }

  /// The nearest double; nil where the number is beyond all of them.
  func double(_ word: JSONWord) -> Double? {
    if let exact = JSONFloat(text + word.place, word.length).exact { return exact }
    guard let double = Double(numeral(word)), double.isFinite else { return nil }
    return double
  }

  /// The nearest float; nil where the number is beyond all of them.
  func float(_ word: JSONWord) -> Float? {
    guard let float = Float(numeral(word)), float.isFinite else { return nil }
    return float
  }

  func decimal(_ word: JSONWord) -> Decimal? {
    Decimal(string: numeral(word), locale: Locale(identifier: "en_US_POSIX"))
  }
}

/// A number's digits and its power of ten.
struct JSONFloat {
  private var digits: UInt64 = 0
  private var isNegative = false
  private var power = 0
  private var isShort = true

  /// - Parameter text: A number whose grammar was checked.
  init(_ text: UnsafePointer<UInt8>, _ length: Int) {
    var at = 0
    var isFraction = false
    if text[0] == UInt8(ascii: "-") { (isNegative, at) = (true, 1) }
    // Eighteen digits and one more fit 64 bits whatever they are; what is longer is left to others.
    guard length < 32 else {
      isShort = false
      return
    }
    while at < length, text[at] | 0x20 != UInt8(ascii: "e") {
      if text[at] == UInt8(ascii: ".") {
        isFraction = true
      } else {
        if digits >= 1_000_000_000_000_000_000 { isShort = false }
        digits = digits &* 10 &+ UInt64(text[at] &- UInt8(ascii: "0"))
        if isFraction { power -= 1 }
      }
      at += 1
    }
    if at < length { power += Self.exponent(text + at + 1, length - at - 1) }
  }

  private static func exponent(_ text: UnsafePointer<UInt8>, _ length: Int) -> Int {
    let hasSign = text[0] == UInt8(ascii: "-") || text[0] == UInt8(ascii: "+")
    var exponent = 0
    for index in (hasSign ? 1 : 0)..<length {
      exponent = min(exponent * 10 + Int(text[index] &- UInt8(ascii: "0")), 100_000)
    }
    return text[0] == UInt8(ascii: "-") ? -exponent : exponent
  }

  /// The number itself where digits and power of ten are doubles exactly, so that one rounding makes it (Clinger's fast
  /// path); nil for all others.
  var exact: Double? {
    guard isShort, digits <= 1 << 53, abs(power) < Self.powers.count else { return nil }
    let magnitude = power < 0 ? Double(digits) / Self.powers[-power] : Double(digits) * Self.powers[power]
    return isNegative ? -magnitude : magnitude
  }

  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]
}
