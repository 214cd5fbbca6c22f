/// A number's digits and its power of ten.
struct JSONFloat {
  private var digits: UInt64 = 0
  private var isNegative = false
  private var power = 0
  private var isShort = true

  /// - Parameter text: A number whose grammar was checked.
  init(_ text: UnsafePointer<UInt8>, _ length: Int) {
    // Eighteen digits and one more fit 64 bits whatever they are; what is longer is left to others.
    guard length < 32 else {
      isShort = false
      return
    }
    var at = 0
    if text[0] == UInt8(ascii: "-") { (isNegative, at) = (true, 1) }
    take(text, &at, length)
    if at < length, text[at] == UInt8(ascii: ".") {
      at += 1
      let start = at
      take(text, &at, length)
      power = start - at
    }
    if at < length { power += Self.exponent(text + at + 1, length - at - 1) }
  }

  /// Takes the digits from a place on, and moves it behind them.
  @inline(__always)
  private mutating func take(_ text: UnsafePointer<UInt8>, _ at: inout Int, _ length: Int) {
    while at + 8 <= length, digits < 10_000_000_000, let eight = JSONBytes.eightDigits(text + at) {
      digits = digits &* 100_000_000 &+ eight
      at += 8
    }
    while at < length, text[at] &- UInt8(ascii: "0") < 10 {
      if digits >= 1_000_000_000_000_000_000 { isShort = false }
      digits = digits &* 10 &+ UInt64(text[at] &- UInt8(ascii: "0"))
      at += 1
    }
  }

  private static func exponent(_ text: UnsafePointer<UInt8>, _ length: Int) -> Int {
    let hasSign = text[0] == UInt8(ascii: "-") || text[0] == UInt8(ascii: "+")
    var exponent = 0
    for index in (hasSign ? 1 : 0)..<length {
      exponent = min(exponent * 10 + Int(text[index] &- UInt8(ascii: "0")), 100_000)
    }
    return text[0] == UInt8(ascii: "-") ? -exponent : exponent
  }

  /// The nearest double; nil where it takes more to find it: for a number with many digits, one that lies half-way between
  /// two doubles, and one that is very small or too large.
  var nearest: Double? {
    guard isShort else { return nil }
    guard digits != 0 else { return isNegative ? -0.0 : 0 }
    guard let magnitude = exact ?? rounded else { return nil }
    return isNegative ? -magnitude : magnitude
  }

  /// Digits and power of ten are doubles as they are: then one rounding makes the number.
  private var exact: Double? {
    guard digits <= 1 << 53, abs(power) < Self.powers.count else { return nil }
    return power < 0 ? Double(digits) / Self.powers[-power] : Double(digits) * Self.powers[power]
  }

  /// Digits times a power of ten of 128 bits, rounded to 53 bits.
  ///
  /// The power is less than one in its last bit too small, so that the product is less than one in the last of its
  /// highest 128 bits too small. Only where the bits behind the 53 are one half, or all but one less, can that change
  /// which double is the nearest.
  private var rounded: Double? {
    guard let ten = DecimalPower.ten(to: power) else { return nil }
    let shift = digits.leadingZeroBitCount
    let factor = UInt128(digits << UInt64(shift))
    // The 128 highest of 192 bits.
    let lower = (ten.mantissa & UInt128(UInt64.max)) &* factor
    let upper = (ten.mantissa >> 64) &* factor &+ (lower >> 64)
    let spare = upper.leadingZeroBitCount
    let product = upper << UInt128(spare)
    let rest = product << 53
    let half = UInt128(1) << 127
    // The last bits are unknown: those shifted in, and the one that the power lacks.
    let doubt = UInt128(2) << UInt128(53 + spare)
    guard rest >= half &+ doubt || rest < half &- doubt else { return nil }
    let mantissa = UInt64(product >> 75) + (rest >= half ? 1 : 0)
    let exponent = ten.exponent + 64 - shift - spare + 75
    // The number is mantissa × 2^exponent with 53 bits, or 54 where rounding made it a power of two.
    let biased = exponent + 52 + 1023
    guard (1..<2046).contains(biased) else { return nil }
    return Double(bitPattern: (UInt64(biased) << 52) + (mantissa - 1 << 52))
  }

  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]
}
