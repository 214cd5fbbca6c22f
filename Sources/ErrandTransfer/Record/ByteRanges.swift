/// Parts of a file: in order, apart from each other, none empty.
package struct ByteRanges: Sendable, Hashable {
  /// The parts.
  package private(set) var all: [Range<Int64>] = []

  /// None at all.
  package init() {}

  /// The first bytes; none where `count` is not positive.
  package init(first count: Int64) {
    if count > 0 { all = [0..<count] }
  }

  /// Takes parts over; nil where they are not in order, touch, are empty or begin before 0.
  package init?(_ parts: [Range<Int64>]) {
    var end: Int64 = -1
    for part in parts {
      guard part.lowerBound > end, !part.isEmpty else { return nil }
      end = part.upperBound
    }
    all = parts
  }

  /// How many bytes there are from the start on without a gap.
  package var prefix: Int64 {
    guard let first = all.first, first.lowerBound == 0 else { return 0 }
    return first.upperBound
  }

  /// Where the last part ends.
  package var end: Int64 { all.last?.upperBound ?? 0 }

  /// The bytes of all parts.
  package var count: Int64 { all.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

  /// Whether there is no gap from the start on.
  package var isPrefix: Bool { prefix == end }

  /// Adds a part; those that overlap or touch become one. Parts before 0 do not count.
  package mutating func insert(_ part: Range<Int64>) {
    let part = part.clamped(to: 0..<Int64.max)
    guard !part.isEmpty else { return }
    // The common case: more bytes behind the last ones.
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

  /// Takes away everything from a place on.
  package mutating func cut(at length: Int64) {
    all = all.filter { $0.lowerBound < length }.map { $0.lowerBound..<min($0.upperBound, length) }
  }

  /// What is missing up to a length.
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
