/// A set of byte ranges of a file. The ranges are in ascending order, do not touch each other, and are not empty.
package struct ByteRanges: Sendable, Hashable {
  /// The ranges of the set in ascending order.
  package private(set) var all: [Range<Int64>] = []

  package init() {}

  /// Makes a set with the first `count` bytes. The set is empty if `count` is not positive.
  package init(first count: Int64) {
    if count > 0 { all = [0..<count] }
  }

  /// Makes a set of existing ranges. Nil if the ranges are not in ascending order, touch each other, are empty or start
  /// before 0.
  package init?(_ parts: [Range<Int64>]) {
    var end: Int64 = -1
    for part in parts {
      guard part.lowerBound > end, !part.isEmpty else { return nil }
      end = part.upperBound
    }
    all = parts
  }

  /// The number of bytes before the first gap; 0 if the first byte of the file is missing.
  package var prefix: Int64 {
    guard let first = all.first, first.lowerBound == 0 else { return 0 }
    return first.upperBound
  }

  /// The offset after the last byte of the last range; 0 if the set is empty.
  package var end: Int64 { all.last?.upperBound ?? 0 }

  /// The total number of bytes in all ranges.
  package var count: Int64 { all.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

  /// Whether the set has no gap before its ``end``.
  package var isPrefix: Bool { prefix == end }

  /// Adds a range, and merges it with the ranges that it overlaps or touches. Offsets below 0 are ignored.
  package mutating func insert(_ part: Range<Int64>) {
    let part = part.clamped(to: 0..<Int64.max)
    guard !part.isEmpty else { return }
    // In the common case, the new range continues the last range.
    if let last = all.last, part.lowerBound >= last.lowerBound, part.lowerBound <= last.upperBound {
      all[all.count - 1] = last.lowerBound..<max(last.upperBound, part.upperBound)
      return
    }
    let before = all.prefix { $0.upperBound < part.lowerBound }
    let touching = all.dropFirst(before.count).prefix { $0.lowerBound <= part.upperBound }
    let start = min(touching.first?.lowerBound ?? part.lowerBound, part.lowerBound)
    let end = max(touching.last?.upperBound ?? part.upperBound, part.upperBound)
    all.replaceSubrange(touching.startIndex..<touching.endIndex, with: [start..<end])
  }

  /// The gaps in the first `total` bytes of the file, including the gaps before the first range and after the last
  /// range.
  package func missing(of total: Int64) -> [Range<Int64>] {
    var gaps: [Range<Int64>] = []
    var place: Int64 = 0
    for part in all where part.lowerBound < total {
      if part.lowerBound > place { gaps.append(place..<part.lowerBound) }
      place = part.upperBound
    }
    if place < total { gaps.append(place..<total) }
    return gaps
  }
}
