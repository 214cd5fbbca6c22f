import Foundation

/// A list of plain values in memory of its own that grows and is never given back while the list lives.
final class JSONRoom<Element: BitwiseCopyable> {
  private(set) var start: UnsafeMutablePointer<Element>
  private(set) var capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    start = .allocate(capacity: capacity)
  }

  deinit { start.deallocate() }

  /// Where the next element goes. There is room for as many as were reserved.
  @inline(__always) var end: UnsafeMutablePointer<Element> { start + count }

  /// The last element; there must be one.
  @inline(__always) var last: UnsafeMutablePointer<Element> { start + (count - 1) }

  @inline(__always) func reserve(_ more: Int) {
    if capacity - count < more { grow(more) }
  }

  @inline(never) private func grow(_ more: Int) {
    let wider = max(capacity * 2, count + more)
    let room = UnsafeMutablePointer<Element>.allocate(capacity: wider)
    room.update(from: start, count: count)
    start.deallocate()
    (start, capacity) = (room, wider)
  }

  @inline(__always) func append(_ element: Element) {
    reserve(1)
    start[count] = element
    count += 1
  }

  /// Counts elements that were written at the end.
  @inline(__always) func advance(_ more: Int) { count += more }

  /// Drops what stands behind a place.
  @inline(__always) func cut(to place: Int) { if place < count { count = place } }
}

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
