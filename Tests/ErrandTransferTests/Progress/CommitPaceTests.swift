import ErrandCore
import Testing

@testable import ErrandTransfer

/// When received bytes are committed, and when a body pauses for that.
struct CommitPaceTests {
  private let start = MonotonicInstant(nanoseconds: 0)
  private let second = MonotonicInstant(nanoseconds: 1_000_000_000)
  private static let mebibyte: Int64 = 1 << 20

  @Test func `only one commit runs at a time`() {
    var pace = CommitPace(CommitRule(total: nil))
    #expect(pace.took(Self.mebibyte, at: start) == .wake(second))
    #expect(pace.took(31 * Self.mebibyte, at: start) == .commit)
    #expect(pace.took(31 * Self.mebibyte, at: start) == .nothing)
    #expect(pace.timePassed() == false)
    #expect(!pace.mustWait)
    // Fewer bytes arrived during the commit than are due at once.
    #expect(pace.committed(32 * Self.mebibyte, at: start, hasFailed: false) == .wake(second))
    #expect(pace.uncommitted == 31 * Self.mebibyte)
    #expect(pace.took(Self.mebibyte, at: start) == .commit)
  }

  @Test func `few bytes are committed after one second`() {
    var pace = CommitPace(CommitRule(total: nil))
    #expect(pace.took(1, at: start) == .wake(second))
    #expect(pace.took(1, at: start.advanced(by: .milliseconds(999))) == .nothing)
    #expect(pace.timePassed() == true)
    #expect(pace.committed(2, at: second, hasFailed: false) == .nothing)
    #expect(pace.took(1, at: second) == .wake(second.advanced(by: .seconds(1))))
  }

  @Test func `no new bytes need no commit`() {
    var pace = CommitPace(CommitRule(total: nil))
    _ = pace.took(1, at: start)
    #expect(pace.timePassed() == true)
    #expect(pace.timePassed() == false)
    #expect(pace.committed(1, at: second, hasFailed: false) == .nothing)
    #expect(pace.timePassed() == false)
  }

  @Test func `too many bytes pause the body`() {
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
  func `a commit is due at half the limit`(_ total: Int64?, _ due: Int64, _ most: Int64) {
    let rule = CommitRule(total: total)
    #expect(rule.isDue(uncommitted: due * Self.mebibyte))
    #expect(!rule.isDue(uncommitted: due * Self.mebibyte - 1))
    #expect(rule.mustWait(uncommitted: most * Self.mebibyte) && !rule.mustWait(uncommitted: most * Self.mebibyte - 1))
  }

  @Test func `a failure ends the commits`() {
    var pace = CommitPace(CommitRule(total: nil))
    _ = pace.took(100 * Self.mebibyte, at: start)
    #expect(pace.committed(1, at: start, hasFailed: true) == .nothing)
  }

  @Test func `an early commit blocks a second one`() {
    var pace = CommitPace(CommitRule(total: nil))
    pace.begin()
    #expect(pace.took(32 * Self.mebibyte, at: start) == .nothing)
  }
}
