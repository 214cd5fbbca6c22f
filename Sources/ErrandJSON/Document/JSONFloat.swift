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

  /// The value of an exponent. A larger magnitude than that of any possible number of digits is reduced.
  static func exponent(_ text: UnsafePointer<UInt8>, _ length: Int) -> Int {
    let hasSign = text[0] == UInt8(ascii: "-") || text[0] == UInt8(ascii: "+")
    var exponent = 0
    for index in (hasSign ? 1 : 0)..<length {
      exponent = min(exponent * 10 + Int(text[index] &- UInt8(ascii: "0")), JSONDocument.limit)
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

/// A power of ten, as a 128-bit integer times a power of two. The highest bit of the integer is set. The integer is
/// rounded down, so its error is less than one unit in the last bit.
struct DecimalPower {
  let mantissa: UInt128
  /// The exponent of the power of two.
  let exponent: Int

  /// The exponents of ten for which a number of up to 19 digits can be a normal double.
  private static let reach = -330...308

  /// The power of ten with an exponent; nil if the exponent is outside `reach`.
  static func ten(to power: Int) -> DecimalPower? { reach.contains(power) ? all[power - reach.lowerBound] : nil }

  private static let all: [DecimalPower] = negative().reversed() + positive()

  /// The powers from 10^0 upward, calculated as 5^n times 2^n.
  private static func positive() -> [DecimalPower] {
    var five = WideNumber(1)
    return (0...reach.upperBound).map { power in
      if power > 0 { five.multiply(by: 5) }
      return DecimalPower(five, shift: power)
    }
  }

  /// The powers from 10^-1 downward. Each is a large power of two divided by 5^n, times 2^-n. Dividing by five n times
  /// gives the same rounded result as dividing once by 5^n.
  private static func negative() -> [DecimalPower] {
    var fraction = WideNumber(powerOfTwo: WideNumber.highestBit)
    return (1...(-reach.lowerBound)).map { power in
      fraction.divide(by: 5)
      return DecimalPower(fraction, shift: -power - WideNumber.highestBit)
    }
  }

  private init(_ number: WideNumber, shift: Int) {
    let (mantissa, exponent) = number.highest128Bits
    self.mantissa = mantissa
    self.exponent = exponent + shift
  }
}

/// An integer of up to 1280 bits, for calculating the powers of ten.
private struct WideNumber {
  static let highestBit = 20 * 64 - 1

  /// The 64-bit parts of the integer. The least significant part is first.
  private var limbs = [UInt64](repeating: 0, count: 20)

  init(_ number: UInt64) { limbs[0] = number }

  init(powerOfTwo power: Int) { limbs[power / 64] = 1 << UInt64(power % 64) }

  mutating func multiply(by factor: UInt64) {
    var carry: UInt64 = 0
    for index in limbs.indices {
      let (high, low) = limbs[index].multipliedFullWidth(by: factor)
      let (sum, overflows) = low.addingReportingOverflow(carry)
      limbs[index] = sum
      carry = high &+ (overflows ? 1 : 0)
    }
  }

  mutating func divide(by divisor: UInt64) {
    var rest: UInt64 = 0
    for index in limbs.indices.reversed() {
      (limbs[index], rest) = divisor.dividingFullWidth((rest, limbs[index]))
    }
  }

  /// The 128 bits from the highest set bit downward, and the exponent of the power of two by which to multiply these
  /// bits.
  var highest128Bits: (mantissa: UInt128, exponent: Int) {
    let top = limbs.lastIndex { $0 != 0 } ?? 0
    let limb = { (index: Int) in index < 0 ? 0 : limbs[index] }
    let shift = UInt64(limbs[top].leadingZeroBitCount)
    let upper = UInt128(limb(top)) << 64 | UInt128(limb(top - 1))
    let lower = shift == 0 ? 0 : limb(top - 2) >> (64 - shift)
    return (upper << UInt128(shift) | UInt128(lower), (top - 1) * 64 - Int(shift))
  }
}
