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
