import ErrandCache
import Testing

@testable import ErrandOutbox

struct OutboxTimeTests {
  private func read(_ time: inout OutboxTime, _ milliseconds: Int64) -> Int64 {
    time.read(WallTime(milliseconds: milliseconds)).milliseconds
  }

  @Test func `clock follows the wall clock`() {
    var time = OutboxTime()
    #expect(read(&time, 1_000) == 1_000)
    #expect(read(&time, 2_500) == 2_500)
  }

  @Test(arguments: [1, 1_000, 86_400_000, 31_536_000_000] as [Int64])
  func `clock never goes back`(jump: Int64) {
    let start: Int64 = 100_000_000_000
    var time = OutboxTime()
    #expect(read(&time, start) == start)
    #expect(read(&time, start - jump) == start)
    #expect(read(&time, start - jump + 700) == start + 700)
  }

  @Test(arguments: [OutboxPeriod.minutes(.max), .hours(.max), .days(.max)])
  func `very long period is clamped`(period: OutboxPeriod) {
    #expect(period.milliseconds == Int64.max / 1_000_000)
  }

  @Test func `clock follows a jump forward`() {
    var time = OutboxTime()
    #expect(read(&time, 1_000) == 1_000)
    #expect(read(&time, 31_536_001_000) == 31_536_001_000)
  }

  /// A device that starts in 1970 and learns the time from the network.
  @Test(
    arguments: [
      (4_999, 31_536_000_001, 1), (5_000, 31_536_000_001, 0), (5_001, 31_536_000_001, 0),
      (5_001, 31_536_000_000, 31_536_000_000), (5_001, 7, 7),
      (-31_535_995_000, 40_000_000_000, 31_536_000_000), (-31_535_995_001, 40_000_000_000, 40_000_000_000),
    ] as [(Int64, Int64, Int64)])
  func `wall clock that caught up is followed`(wall: Int64, correction: Int64, left: Int64) {
    var time = OutboxTime(last: 5_000, correction: correction)
    #expect(read(&time, wall) == wall + left)
    #expect(time.correction == left)
  }

  @Test func `correction survives a restart`() {
    var time = OutboxTime(last: 5_000)
    #expect(read(&time, 3_000) == 5_000)
    var next = OutboxTime(last: time.last, correction: time.correction)
    #expect(read(&next, 4_000) == 6_000)
  }

  @Test func `later state of another process wins`() {
    var time = OutboxTime(last: 5_000)
    time.merge(OutboxTime(last: 9_000, correction: 100))
    #expect(time == OutboxTime(last: 9_000, correction: 100))
  }

  @Test(arguments: [8_999, 9_000] as [Int64]) func `earlier state of another process is ignored`(last: Int64) {
    var time = OutboxTime(last: 9_000, correction: 5)
    time.merge(OutboxTime(last: last, correction: 100))
    #expect(time == OutboxTime(last: 9_000, correction: 5))
  }

  @Test(arguments: [
    // A clock that was not set back is not reset.
    (OutboxTime(last: 5_000), OutboxTime(last: 5_000), 6_000, true, OutboxTime(last: 6_000)),
    (OutboxTime(last: 9_000), OutboxTime(last: 9_000), 6_000, true, OutboxTime(last: 6_000, resets: 1)),
    (OutboxTime(last: 9_000), OutboxTime(last: 9_000), 6_000, false, OutboxTime(last: 9_000, correction: 3_000)),
    (OutboxTime(last: 5), OutboxTime(last: 9_000, correction: 8), 1_000, true, OutboxTime(last: 1_000, resets: 1)),
    // Another process has reset the clock, so the own state counts no more, also if it is later.
    (
      OutboxTime(last: 9_000, correction: 5), OutboxTime(last: 50, resets: 3), 60, true, OutboxTime(last: 60, resets: 3)
    ),
    (OutboxTime(last: 9_000), OutboxTime(last: 50, resets: 3), 20, true, OutboxTime(last: 20, resets: 4)),
    (
      OutboxTime(last: 9_000, resets: 7), OutboxTime(last: 50, resets: 3), 20, false,
      OutboxTime(last: 50, correction: 30, resets: 3)
    ),
    (
      OutboxTime(last: 9, resets: .max), OutboxTime(last: 9, resets: .max), 1, true, OutboxTime(last: 1, resets: .min)
    ),
  ])
  func `clock is reset if it was set back and is unused`(
    own: OutboxTime, stored: OutboxTime, wall: Int64, isUnused: Bool, result: OutboxTime
  ) {
    var time = own
    let now = time.exchange(stored, WallTime(milliseconds: wall)) { isUnused }
    #expect(time == result)
    #expect(now.milliseconds == result.last)
  }

  @Test func `use of a right clock is not examined`() {
    var (time, count) = (OutboxTime(last: 5), 0)
    _ = time.exchange(OutboxTime(last: 6), WallTime(milliseconds: 7)) {
      count += 1
      return true
    }
    #expect(count == 0)
    #expect(OutboxTime(last: 5, resets: 1).isAhead(of: OutboxTime(last: 9)))
  }

  @Test func `arithmetic does not trap at the limits`() {
    var time = OutboxTime(last: .max, correction: .max)
    #expect(read(&time, .min) == .max)
    #expect(read(&time, .max) == .max)
  }

  @Test(arguments: [
    (0, 0, false), (999, 0, false), (1_000, 0, true), (0, 5, true), (-5, 0, false), (Int64.max, 0, true),
  ])
  func `clock is stored once a second or when it was corrected`(later: Int64, correction: Int64, isAhead: Bool) {
    let stored = OutboxTime(last: 1_000_000, correction: 3)
    let last = WallTime(milliseconds: 1_000_000).advanced(byMilliseconds: later).milliseconds
    #expect(OutboxTime(last: last, correction: 3 + correction).isAhead(of: stored) == isAhead)
  }
}
