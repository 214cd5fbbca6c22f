import ErrandCore
import Testing

@testable import ErrandTransfer

/// When what came is brought to the disk, and when a body waits for that.
struct CommitPaceTests {
  private let start = MonotonicInstant(nanoseconds: 0)
  private static let mebibyte: Int64 = 1 << 20

  @Test func `one commit at a time`() {
    var pace = CommitPace(CommitRule(total: nil), at: start)
    #expect(pace.took(Self.mebibyte, at: start) == false)
    #expect(pace.took(31 * Self.mebibyte, at: start) == true)
    #expect(pace.took(31 * Self.mebibyte, at: start) == false)
    #expect(!pace.mustWait)
    // Less came meanwhile than is worth another one at once.
    #expect(pace.committed(32 * Self.mebibyte, at: start, hasFailed: false) == false)
    #expect(pace.uncommitted == 31 * Self.mebibyte)
    #expect(pace.took(Self.mebibyte, at: start) == true)
  }

  @Test func `little is committed after a second`() {
    var pace = CommitPace(CommitRule(total: nil), at: start)
    #expect(pace.took(1, at: start.advanced(by: .milliseconds(999))) == false)
    #expect(pace.took(1, at: start.advanced(by: .seconds(1))) == true)
    #expect(pace.committed(2, at: start.advanced(by: .seconds(2)), hasFailed: false) == false)
    #expect(pace.took(1, at: start.advanced(by: .milliseconds(2_999))) == false)
  }

  @Test func `too much waits and is committed at once`() {
    var pace = CommitPace(CommitRule(total: 12 * Self.mebibyte), at: start)
    #expect(pace.took(4 * Self.mebibyte, at: start) == true)
    #expect(pace.took(8 * Self.mebibyte, at: start) == false)
    #expect(pace.mustWait)
    #expect(pace.committed(4 * Self.mebibyte, at: start, hasFailed: false) == true)
    #expect(pace.mustWait)
    #expect(pace.committed(8 * Self.mebibyte, at: start, hasFailed: false) == false)
    #expect(!pace.mustWait)
  }

  @Test(
    arguments: [(nil, 32, 64), (1 << 40, 32, 64), (192 << 20, 8, 16), (96 << 20, 4, 8), (1, 4, 8)]
      as [(Int64?, Int64, Int64)])
  func `half of what may wait is due`(_ total: Int64?, _ due: Int64, _ most: Int64) {
    let rule = CommitRule(total: total)
    #expect(rule.isDue(uncommitted: due * Self.mebibyte, since: .zero))
    #expect(!rule.isDue(uncommitted: due * Self.mebibyte - 1, since: .zero))
    #expect(rule.mustWait(uncommitted: most * Self.mebibyte) && !rule.mustWait(uncommitted: most * Self.mebibyte - 1))
  }

  @Test func `failure ends the commits`() {
    var pace = CommitPace(CommitRule(total: nil), at: start)
    _ = pace.took(100 * Self.mebibyte, at: start)
    #expect(pace.committed(1, at: start, hasFailed: true) == false)
  }

  @Test func `commit that is not due holds others back`() {
    var pace = CommitPace(CommitRule(total: nil), at: start)
    pace.begin()
    #expect(pace.took(32 * Self.mebibyte, at: start) == false)
  }
}
