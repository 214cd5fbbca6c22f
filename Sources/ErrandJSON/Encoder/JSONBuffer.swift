import ErrandSupport
import Foundation

/// A growable buffer of trivial values. Its capacity never shrinks.
final class JSONBuffer<Element: BitwiseCopyable> {
  private(set) var start: UnsafeMutablePointer<Element>
  private(set) var capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    start = .allocate(capacity: capacity)
  }

  deinit { start.deallocate() }

  /// A pointer to the place after the last element. Callers may write as many elements there as they reserved, and must
  /// then call `advance`.
  @inline(__always) var end: UnsafeMutablePointer<Element> { start + count }

  /// A pointer to the last element. The buffer must not be empty.
  @inline(__always) var last: UnsafeMutablePointer<Element> { start + (count - 1) }

  @inline(__always) func reserve(_ more: Int) {
    if capacity - count < more { grow(more) }
  }

  @inline(never) private func grow(_ more: Int) {
    let wider = max(capacity * 2, count + more)
    let storage = UnsafeMutablePointer<Element>.allocate(capacity: wider)
    storage.update(from: start, count: count)
    start.deallocate()
    (start, capacity) = (storage, wider)
  }

  @inline(__always) func append(_ element: Element) {
    reserve(1)
    start[count] = element
    count += 1
  }

  /// Counts elements that the caller has written directly at `end`.
  @inline(__always) func advance(_ more: Int) { count += more }

  /// Removes all elements from the index `place` on.
  @inline(__always) func cut(to place: Int) { if place < count { count = place } }
}

extension JSONBuffer<UInt8> {
  /// Writes a finite number with the fewest digits, as `description` does, but without a final `.0`.
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

  /// Writes a number that has at most fifteen digits, of which at most nine are after the decimal point. Returns false
  /// for all other numbers, without writing anything.
  ///
  /// Two different decimal numbers of up to fifteen digits are never read as the same double. So at most one such
  /// decimal number is read as `number`, and this decimal number is the shortest. Its digits are found by multiplying
  /// `number` by a power of ten and rounding the product. The error of the product is far below one half, so the
  /// rounding gives the right digits.
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

extension JSONBuffer<UInt8> {
  /// Writes a date as `2026-11-21T16:00:00Z` in quotation marks, rounded down to the second.
  func write(iso8601 date: Date) {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    // The limits are the first day of the Gregorian calendar and the end of the year 9999, in seconds since 1970.
    // Foundation writes dates outside these limits.
    guard seconds >= -12_219_292_800, seconds <= 253_402_300_799 else {
      write(date.formatted(.iso8601))
      return
    }
    let whole = Int64(seconds)
    let days = whole >= 0 ? whole / 86_400 : (whole - 86_399) / 86_400
    let time = whole - days * 86_400
    let civil = CivilDate(day: days)
    append(UInt8(ascii: "\""))
    write(part: civil.year, width: 4, "-")
    write(part: civil.month, width: 2, "-")
    write(part: civil.day, width: 2, "T")
    write(part: time / 3_600, width: 2, ":")
    write(part: time / 60 % 60, width: 2, ":")
    write(part: time % 60, width: 2, "Z")
    append(UInt8(ascii: "\""))
  }

  private func write(part: Int64, width: Int, _ mark: StaticString) {
    write(digits: part.magnitude, width: width)
    write(word: mark)
  }
}
