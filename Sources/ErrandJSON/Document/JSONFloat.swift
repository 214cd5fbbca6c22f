/// The digits of a number as an integer, and the power of ten by which to multiply the digits.
struct JSONFloat {
  private var digits: UInt64 = 0
  private var isNegative = false
  private var power = 0
  private var isShort = true

  /// - Parameter text: A number that the parser has validated.
  init(_ text: UnsafePointer<UInt8>, _ length: Int) {
    // Every integer of up to nineteen digits fits 64 bits. Longer numbers are read by Foundation.
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

  /// Reads the digits from `at` and advances `at` past them.
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

  /// The nearest double. Nil if this algorithm cannot find the nearest double. The algorithm fails for a number with
  /// many digits, for a number half-way between two doubles, and for a number that is very small or very large.
  var nearest: Double? {
    guard isShort else { return nil }
    guard digits != 0 else { return isNegative ? -0.0 : 0 }
    guard let magnitude = exact ?? rounded else { return nil }
    return isNegative ? -magnitude : magnitude
  }

  /// The nearest double if both the digits and the power of ten are exactly representable as doubles. The
  /// multiplication or division then rounds only once. Nil for all other numbers.
  private var exact: Double? {
    guard digits <= 1 << 53, abs(power) < Self.powers.count else { return nil }
    return power < 0 ? Double(digits) / Self.powers[-power] : Double(digits) * Self.powers[power]
  }

  /// The digits times a 128-bit power of ten, rounded to 53 bits; nil if the rounding is uncertain.
  ///
  /// The 128-bit power is too small by less than one unit in its last bit. So the product is too small by less than one
  /// unit in the last of its highest 128 bits. The rounding depends on the bits after the highest 53 bits. The error
  /// can change the result only if the value of these bits is one half, or slightly less than one half.
  private var rounded: Double? {
    guard let ten = DecimalPower.ten(to: power) else { return nil }
    let shift = digits.leadingZeroBitCount
    let factor = UInt128(digits << UInt64(shift))
    // The highest 128 bits of the product, which has 192 bits.
    let lower = (ten.mantissa & UInt128(UInt64.max)) &* factor
    let upper = (ten.mantissa >> 64) &* factor &+ (lower >> 64)
    let spare = upper.leadingZeroBitCount
    let product = upper << UInt128(spare)
    let rest = product << 53
    let half = UInt128(1) << 127
    // The lowest bits of the product are uncertain, because the power has an error and the shift by `spare` added
    // zeros.
    let doubt = UInt128(2) << UInt128(53 + spare)
    guard rest >= half &+ doubt || rest < half &- doubt else { return nil }
    let mantissa = UInt64(product >> 75) + (rest >= half ? 1 : 0)
    let exponent = ten.exponent + 64 - shift - spare + 75
    // The number is mantissa × 2^exponent. The mantissa has 53 bits, or 54 if it was rounded up to a power of two.
    let biased = exponent + 52 + 1023
    guard (1..<2046).contains(biased) else { return nil }
    return Double(bitPattern: (UInt64(biased) << 52) + (mantissa - 1 << 52))
  }

  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]
}
