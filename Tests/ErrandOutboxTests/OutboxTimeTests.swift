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

  @Test func `clock follows a jump forward`() {
    var time = OutboxTime()
    #expect(read(&time, 1_000) == 1_000)
    #expect(read(&time, 31_536_001_000) == 31_536_001_000)
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
