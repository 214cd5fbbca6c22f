import ErrandTesting
import Testing

@testable import ErrandTransfer

struct SegmentPlanTests {
  private static func pieces(_ there: [Range<Int64>], _ total: Int64, _ count: Int, smallest: Int64 = 10) throws
    -> [Range<Int64>]
  {
    SegmentPlan.pieces(missingFrom: try #require(ByteRanges(there)), total: total, count: count, smallest: smallest)
  }

  @Test(
    arguments: [
      ([], 100, 4, [0..<25, 25..<50, 50..<75, 75..<100]), ([], 101, 2, [0..<51, 51..<101]), ([], 100, 1, [0..<100]),
      ([], 100, 0, [0..<100]), ([], 100, -3, [0..<100]), ([], 19, 4, [0..<19]), ([], 25, 4, [0..<13, 13..<25]),
      ([], 0, 4, []), ([0..<100], 100, 4, []), ([0..<60], 100, 2, [60..<80, 80..<100]),
      ([20..<30], 100, 1, [0..<20, 30..<100]), ([20..<30], 100, 3, [0..<20, 30..<100]),
      ([20..<30], 100, 4, [0..<20, 30..<65, 65..<100]), ([0..<99], 100, 8, [99..<100]),
    ] as [([Range<Int64>], Int64, Int, [Range<Int64>])])
  func `gaps are divided into ranges`(there: [Range<Int64>], total: Int64, count: Int, expected: [Range<Int64>]) throws
  {
    #expect(try Self.pieces(there, total, count) == expected)
  }

  @Test func `ranges fill every gap exactly`() throws {
    var random = SeededNumbers(seed: 3)
    for _ in 0..<500 {
      var there = ByteRanges()
      for _ in 0..<Int.random(in: 0..<5, using: &random) {
        let start = Int64.random(in: 0..<900, using: &random)
        there.insert(start..<(start + Int64.random(in: 1..<90, using: &random)))
      }
      let count = Int.random(in: 1...9, using: &random)
      let pieces = SegmentPlan.pieces(missingFrom: there, total: 1_000, count: count, smallest: 20)
      #expect(pieces.allSatisfy { !$0.isEmpty } && pieces.count <= max(count, there.missing(of: 1_000).count))
      let before = there.count
      for piece in pieces { there.insert(piece) }
      #expect(there.all == [0..<1_000] && before + pieces.reduce(0) { $0 + Int64($1.count) } == 1_000)
    }
  }

  @Test func `huge numbers do not overflow`() throws {
    let pieces = try Self.pieces([], .max, .max, smallest: 0)
    #expect(pieces.count == 1_000 && pieces.last?.upperBound == .max)
  }

  @Test func `only a resumable version is divided`() {
    #expect(SegmentPlan.isSafe(ResumeDecisionTests.metadata()))
    #expect(!SegmentPlan.isSafe(ResumeDecisionTests.metadata(total: nil)))
    #expect(!SegmentPlan.isSafe(ResumeDecisionTests.metadata(validator: nil)))
    #expect(!SegmentPlan.isSafe(ResumeDecisionTests.metadata(coding: "gzip")))
  }
}
