import ErrandTesting
import Testing

@testable import ErrandTransfer

struct ByteRangesTests {
  @Test(
    arguments: [
      ([0..<5], [0..<5]), ([0..<5, 5..<9], [0..<9]), ([5..<9, 0..<5], [0..<9]), ([0..<2, 4..<6, 1..<5], [0..<6]),
      ([0..<2, 4..<6, 2..<4], [0..<6]), ([0..<2, 4..<6, 3..<3], [0..<2, 4..<6]),
      ([8..<9, 4..<5, 0..<1], [0..<1, 4..<5, 8..<9]),
      ([0..<9, 2..<3], [0..<9]), ([2..<3, 0..<9], [0..<9]), ([0..<1, 2..<3, 4..<5, 0..<9], [0..<9]),
      ([-5..<3], [0..<3]), ([-5..<(-2)], []),
    ] as [([Range<Int64>], [Range<Int64>])])
  func `touching ranges are merged`(added: [Range<Int64>], result: [Range<Int64>]) {
    var ranges = ByteRanges()
    for part in added { ranges.insert(part) }
    #expect(ranges.all == result)
  }

  /// Compares with a set of single bytes.
  @Test func `inserting matches a set of bytes`() {
    var random = SeededNumbers(seed: 1)
    for _ in 0..<300 {
      var ranges = ByteRanges()
      var bytes: Set<Int64> = []
      for _ in 0..<12 {
        let start = Int64.random(in: 0..<40, using: &random)
        let part = start..<(start + Int64.random(in: 0..<9, using: &random))
        ranges.insert(part)
        bytes.formUnion(part)
        #expect(Set(ranges.all.flatMap(Array.init)) == bytes && ByteRanges(ranges.all) == ranges)
        #expect(ranges.count == bytes.count && ranges.end == bytes.max().map { $0 + 1 } ?? 0)
        #expect(ranges.prefix == (0...).first { !bytes.contains($0) })
        #expect(Set(ranges.missing(of: 30).flatMap(Array.init)) == Set(0..<30).subtracting(bytes))
      }
    }
  }

  @Test(
    arguments: [
      [0..<0], [5..<9, 0..<2], [0..<5, 5..<9], [0..<5, 4..<9], [-1..<4], [0..<3, 3..<3],
    ] as [[Range<Int64>]])
  func `unordered ranges are rejected`(parts: [Range<Int64>]) { #expect(ByteRanges(parts) == nil) }

  @Test func `extreme bounds do not overflow`() {
    var ranges = ByteRanges(first: .max)
    ranges.insert((.max - 1)..<Int64.max)
    ranges.insert(Int64.min..<Int64.max)
    #expect(ranges.count == .max && ranges.missing(of: .max).isEmpty && ByteRanges(first: -1).all.isEmpty)
  }
}
