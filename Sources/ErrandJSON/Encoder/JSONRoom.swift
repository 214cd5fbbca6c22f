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
