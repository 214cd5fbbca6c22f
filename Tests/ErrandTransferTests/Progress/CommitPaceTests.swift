import ErrandCore
import Testing

@testable import ErrandTransfer

/// When what came is brought to the disk, and when a body waits for that.
struct CommitPaceTests {
  private let start = MonotonicInstant(nanoseconds: 0)
  private let second = MonotonicInstant(nanoseconds: 1_000_000_000)
  private static let mebibyte: Int64 = 1 << 20

  @Test func `one commit at a time`() {
    var pace = CommitPace(CommitRule(total: nil))
    #expect(pace.took(Self.mebibyte, at: start) == .wake(second))
    #expect(pace.took(31 * Self.mebibyte, at: start) == .commit)
    #expect(pace.took(31 * Self.mebibyte, at: start) == .nothing)
    #expect(pace.timePassed() == false)
    #expect(!pace.mustWait)
    // Less came meanwhile than is worth another commit at once.
    #expect(pace.committed(32 * Self.mebibyte, at: start, hasFailed: false) == .wake(second))
    #expect(pace.uncommitted == 31 * Self.mebibyte)
    #expect(pace.took(Self.mebibyte, at: start) == .commit)
  }

  @Test func `little is committed after a second`() {
    var pace = CommitPace(CommitRule(total: nil))
    #expect(pace.took(1, at: start) == .wake(second))
    #expect(pace.took(1, at: start.advanced(by: .milliseconds(999))) == .nothing)
    #expect(pace.timePassed() == true)
    #expect(pace.committed(2, at: second, hasFailed: false) == .nothing)
    #expect(pace.took(1, at: second) == .wake(second.advanced(by: .seconds(1))))
  }

  @Test func `nothing new needs no commit`() {
    var pace = CommitPace(CommitRule(total: nil))
    _ = pace.took(1, at: start)
    #expect(pace.timePassed() == true)
    #expect(pace.timePassed() == false)
    #expect(pace.committed(1, at: second, hasFailed: false) == .nothing)
    #expect(pace.timePassed() == false)
  }

  @Test func `too much waits and is committed at once`() {
    var pace = CommitPace(CommitRule(total: 12 * Self.mebibyte))
    #expect(pace.took(4 * Self.mebibyte, at: start) == .commit)
    #expect(pace.took(8 * Self.mebibyte, at: start) == .nothing)
    #expect(pace.mustWait)
    #expect(pace.committed(4 * Self.mebibyte, at: start, hasFailed: false) == .commit)
    #expect(pace.mustWait)
    #expect(pace.committed(8 * Self.mebibyte, at: start, hasFailed: false) == .nothing)
    #expect(!pace.mustWait)
  }

  @Test(
    arguments: [(nil, 32, 64), (1 << 40, 32, 64), (192 << 20, 8, 16), (96 << 20, 4, 8), (1, 4, 8)]
      as [(Int64?, Int64, Int64)])
  func `half of what may wait is due`(_ total: Int64?, _ due: Int64, _ most: Int64) {
    let rule = CommitRule(total: total)
    #expect(rule.isDue(uncommitted: due * Self.mebibyte))
    #expect(!rule.isDue(uncommitted: due * Self.mebibyte - 1))
    #expect(rule.mustWait(uncommitted: most * Self.mebibyte) && !rule.mustWait(uncommitted: most * Self.mebibyte - 1))
  }

  @Test func `failure ends the commits`() {
    var pace = CommitPace(CommitRule(total: nil))
    _ = pace.took(100 * Self.mebibyte, at: start)
    #expect(pace.committed(1, at: start, hasFailed: true) == .nothing)
  }

  @Test func `commit that is not due holds others back`() {
    var pace = CommitPace(CommitRule(total: nil))
    pace.begin()
    #expect(pace.took(32 * Self.mebibyte, at: start) == .nothing)
  }
}
