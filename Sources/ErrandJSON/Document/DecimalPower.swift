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
