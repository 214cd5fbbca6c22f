import ErrandCore
import Testing

@testable import ErrandTransfer

/// When received bytes are committed, and when a body pauses for that.
struct CommitSchedulerTests {
  private let start = MonotonicInstant(nanoseconds: 0)
  private let second = MonotonicInstant(nanoseconds: 1_000_000_000)
  private static let mebibyte: Int64 = 1 << 20

  @Test func `only one commit runs at a time`() {
    var scheduler = CommitScheduler(CommitLimit(total: nil))
    #expect(scheduler.took(Self.mebibyte, at: start) == .wake(second))
    #expect(scheduler.took(31 * Self.mebibyte, at: start) == .commit)
    #expect(scheduler.took(31 * Self.mebibyte, at: start) == .nothing)
    #expect(scheduler.timePassed() == false)
    #expect(!scheduler.mustWait)
    // Fewer bytes arrived during the commit than are due at once.
    #expect(scheduler.committed(32 * Self.mebibyte, at: start, hasFailed: false) == .wake(second))
    #expect(scheduler.uncommitted == 31 * Self.mebibyte)
    #expect(scheduler.took(Self.mebibyte, at: start) == .commit)
  }

  @Test func `few bytes are committed after one second`() {
    var scheduler = CommitScheduler(CommitLimit(total: nil))
    #expect(scheduler.took(1, at: start) == .wake(second))
    #expect(scheduler.took(1, at: start.advanced(by: .milliseconds(999))) == .nothing)
    #expect(scheduler.timePassed() == true)
    #expect(scheduler.committed(2, at: second, hasFailed: false) == .nothing)
    #expect(scheduler.took(1, at: second) == .wake(second.advanced(by: .seconds(1))))
  }

  @Test func `no new bytes need no commit`() {
    var scheduler = CommitScheduler(CommitLimit(total: nil))
    _ = scheduler.took(1, at: start)
    #expect(scheduler.timePassed() == true)
    #expect(scheduler.timePassed() == false)
    #expect(scheduler.committed(1, at: second, hasFailed: false) == .nothing)
    #expect(scheduler.timePassed() == false)
  }

  @Test func `too many bytes pause the body`() {
    var scheduler = CommitScheduler(CommitLimit(total: 12 * Self.mebibyte))
    #expect(scheduler.took(4 * Self.mebibyte, at: start) == .commit)
    #expect(scheduler.took(8 * Self.mebibyte, at: start) == .nothing)
    #expect(scheduler.mustWait)
    #expect(scheduler.committed(4 * Self.mebibyte, at: start, hasFailed: false) == .commit)
    #expect(scheduler.mustWait)
    #expect(scheduler.committed(8 * Self.mebibyte, at: start, hasFailed: false) == .nothing)
    #expect(!scheduler.mustWait)
  }

  @Test(
    arguments: [(nil, 32, 64), (1 << 40, 32, 64), (192 << 20, 8, 16), (96 << 20, 4, 8), (1, 4, 8)]
      as [(Int64?, Int64, Int64)])
  func `a commit is due at half the limit`(_ total: Int64?, _ due: Int64, _ most: Int64) {
    let limit = CommitLimit(total: total)
    #expect(limit.isDue(uncommitted: due * Self.mebibyte))
    #expect(!limit.isDue(uncommitted: due * Self.mebibyte - 1))
    #expect(limit.mustWait(uncommitted: most * Self.mebibyte) && !limit.mustWait(uncommitted: most * Self.mebibyte - 1))
  }

  @Test func `a failure ends the commits`() {
    var scheduler = CommitScheduler(CommitLimit(total: nil))
    _ = scheduler.took(100 * Self.mebibyte, at: start)
    #expect(scheduler.committed(1, at: start, hasFailed: true) == .nothing)
  }

  @Test func `an early commit blocks a second one`() {
    var scheduler = CommitScheduler(CommitLimit(total: nil))
    scheduler.begin()
    #expect(scheduler.took(32 * Self.mebibyte, at: start) == .nothing)
  }
}
