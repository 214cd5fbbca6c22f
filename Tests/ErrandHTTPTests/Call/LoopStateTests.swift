import ErrandHTTP
import Testing

/// The decisions that wake an event loop, let it sleep, and end it.
struct LoopStateTests {
  private func moment(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

  private func sleep(
    _ loop: inout LoopState, now: Int64 = 0, latest: Int64? = nil, hasCommands: Bool = false, isBusy: Bool = false
  ) -> LoopState.SleepDecision {
    loop.decideSleep(now: moment(now), latest: latest.map(moment), hasCommands: hasCommands, isBusy: isBusy)
  }

  @Test func `first command wakes the loop`() {
    var loop = LoopState()
    #expect(loop.addCommand() == .startThread)
    #expect(loop.addCommand() == .nothing)
    loop.wakeUp()
    #expect(sleep(&loop, latest: 2, isBusy: true) == .sleep(milliseconds: 2000))
    #expect(loop.addCommand() == .wake)
    #expect(loop.addCommand() == .nothing)
    #expect(sleep(&loop, hasCommands: true, isBusy: true) == .none)
  }

  @Test func `an awake loop needs no signal`() {
    var loop = LoopState()
    #expect(loop.addCommand() == .startThread)
    #expect(sleep(&loop, latest: 2) == .sleep(milliseconds: 2000))
    loop.wakeUp()
    #expect(loop.addCommand() == .nothing)
  }

  @Test func `only the earliest timer wakes`() {
    var loop = LoopState()
    #expect(loop.schedule(at: moment(9)) {}.1 == .startThread)
    #expect(sleep(&loop) == .sleep(milliseconds: 9000))
    #expect(loop.schedule(at: moment(10)) {}.1 == .nothing)
    #expect(loop.schedule(at: moment(8)) {}.1 == .wake)
    #expect(sleep(&loop, now: 8) == .none)
  }

  @Test func `a sleep has a limit`() {
    var loop = LoopState()
    #expect(sleep(&loop) == .sleep(milliseconds: 3_600_000))
  }

  @Test func `a closed loop ends when idle`() {
    var loop = LoopState()
    _ = loop.schedule(at: moment(1)) {}
    #expect(loop.close() == .nothing)
    #expect(sleep(&loop, isBusy: true) == .sleep(milliseconds: 1000))
    #expect(sleep(&loop) == .end)
    #expect(loop.addCommand() == .refuse)
  }

  @Test func `closing wakes a sleeping loop`() {
    var loop = LoopState()
    _ = loop.addCommand()
    #expect(sleep(&loop) == .sleep(milliseconds: 3_600_000))
    #expect(loop.close() == .wake)
  }

  @Test func `a closed loop starts no thread`() {
    var loop = LoopState()
    #expect(loop.close() == .nothing)
    #expect(loop.addCommand() == .refuse)
    var started = LoopState()
    _ = started.schedule(at: moment(10)) {}
    #expect(started.close() == .nothing)
    #expect(started.abandon() == nil)
    #expect(started.addCommand() == .refuse)
  }

  @Test func `a failed thread is retried`() {
    var loop = LoopState()
    #expect(loop.addCommand() == .startThread)
    #expect(loop.abandon() == nil)
    #expect(loop.addCommand() == .startThread)
  }

  @Test func `timers without a thread use a fallback`() {
    var loop = LoopState()
    #expect(loop.schedule(at: moment(20)) {}.1 == .startThread)
    #expect(loop.popFallbackTimer(moment(20)) == nil, "the loop's thread runs the timers")
    #expect(loop.abandon() == moment(20))
    #expect(loop.schedule(at: moment(30)) {}.1 == .startThread)
    #expect(loop.abandon() == nil, "a fallback timer already covers this moment")
    #expect(loop.schedule(at: moment(10)) {}.1 == .startThread)
    #expect(loop.abandon() == moment(10))
    for count in [2, 1] {
      #expect(loop.popFallbackTimer(moment(20)) != nil)
      #expect(loop.timers.count == count)
    }
    #expect(loop.popFallbackTimer(moment(20)) == nil, "the timer is not due")
    #expect(loop.endFallback() == .startThread)
    #expect(loop.abandon() == moment(30))
  }

  @Test func `a cancelled timer starts no thread`() {
    var loop = LoopState()
    let (token, _) = loop.schedule(at: moment(20)) {}
    _ = loop.abandon()
    #expect(loop.timers.remove(token) != nil)
    #expect(loop.endFallback() == .nothing)
  }
}
