extension JSONRoom<UInt8> {
  /// A finite number by its fewest digits, as `description` has them, and without `.0`.
  func write(_ number: Double) {
    let magnitude = number.magnitude
    if magnitude < 1e12, magnitude >= 1e-4 || magnitude == 0, write(short: number, magnitude) { return }
    write(described: number.description)
  }

  func write(_ number: Float) { write(described: number.description) }

  private func write(described text: String) {
    write(ascii: text)
    if endsWith(".0") { cut(to: count - 2) }
  }

  /// Writes a number of no more than fifteen digits, few of them behind the point; false for all others.
  ///
  /// A decimal of fifteen digits is the only one of so many that is read as its double, so where one is found it is the
  /// shortest. Times a power of ten and rounded gives its digits, as the error of that product is far below one half.
  private func write(short number: Double, _ magnitude: Double) -> Bool {
    let (power, scale): (Int, Double) = magnitude < 1e6 ? (9, 1e9) : magnitude < 1e9 ? (6, 1e6) : (3, 1e3)
    let scaled = (magnitude * scale).rounded()
    guard scaled / scale == magnitude, scaled < 1e15, let digits = UInt64(exactly: scaled) else { return false }
    if number.sign == .minus { append(UInt8(ascii: "-")) }
    let unit = UInt64(scale)
    let (whole, part) = (digits / unit, digits % unit)
    write(digits: whole)
    guard part != 0 else { return true }
    append(UInt8(ascii: "."))
    var (rest, width) = (part, power)
    while rest % 10 == 0 { (rest, width) = (rest / 10, width - 1) }
    write(digits: rest, width: width)
    return true
  }
}
