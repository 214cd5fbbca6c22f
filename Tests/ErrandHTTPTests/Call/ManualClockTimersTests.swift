import ErrandHTTP
import ErrandTesting
import Testing

struct ManualClockTimersTests {
  @Test func `advancing runs due actions in order`() {
    let clock = ManualClock()
    let order = Recorded<Int>()
    let start = clock.now
    for index in [3, 1, 2] { _ = clock.schedule(at: start.advanced(by: .seconds(index))) { order.append(index) } }
    clock.advance(by: .milliseconds(999))
    #expect(order.all.isEmpty)
    clock.advance(by: .milliseconds(1_001))
    #expect(order.all == [1, 2])
    #expect(clock.pending == 1)
    #expect(start.duration(to: clock.now) == .seconds(2))
  }

  @Test func `equal times keep the scheduling order`() {
    let clock = ManualClock()
    let order = Recorded<Int>()
    let time = clock.now.advanced(by: .seconds(1))
    let tokens = (0..<8).map { index in clock.schedule(at: time) { order.append(index) } }
    clock.cancel(tokens[2])
    clock.cancel(tokens[2])
    clock.advance(by: .seconds(1))
    #expect(order.all == [0, 1, 3, 4, 5, 6, 7])
  }

  @Test func `action may advance the clock`() {
    let clock = ManualClock()
    let order = Recorded<Int>()
    let start = clock.now
    for index in 1...3 {
      _ = clock.schedule(at: start.advanced(by: .seconds(index))) {
        order.append(index)
        if index == 1 { clock.advance(by: .seconds(2)) }
      }
    }
    clock.advance(by: .seconds(1))
    #expect(order.all == [1, 2, 3] && clock.pending == 0)
  }

  @Test func `past action runs immediately`() {
    let clock = ManualClock()
    let order = Recorded<Int>()
    _ = clock.schedule(at: clock.now) { order.append(1) }
    #expect(order.all == [1])
    #expect(clock.pending == 0)
  }

  @Test func `cancelled action does not run`() {
    let clock = ManualClock()
    let order = Recorded<Int>()
    let token = clock.schedule(at: clock.now.advanced(by: .seconds(1))) { order.append(1) }
    clock.cancel(token)
    #expect(clock.pending == 0)
    clock.advance(by: .seconds(2))
    #expect(order.all.isEmpty)
  }

  @Test func `action may schedule another action`() {
    let clock = ManualClock()
    let order = Recorded<Int>()
    _ = clock.schedule(at: clock.now.advanced(by: .seconds(1))) {
      order.append(1)
      _ = clock.schedule(at: clock.now) { order.append(2) }
      _ = clock.schedule(at: clock.now.advanced(by: .seconds(1))) { order.append(3) }
    }
    clock.advance(by: .seconds(1))
    #expect(order.all == [1, 2])
    #expect(clock.pending == 1)
  }

  @Test func `waitForTimers returns once timers exist`() async {
    let clock = ManualClock()
    let task = Task { await clock.waitForTimers(2) }
    for _ in 0..<2 { _ = clock.schedule(at: clock.now.advanced(by: .seconds(1))) {} }
    #expect(await task.value)
    #expect(await clock.waitForTimers(2))
    #expect(clock.pending == 2)
  }

  @Test func `waitForTimers ends by time-out or cancel`() async {
    let clock = ManualClock()
    #expect(!(await clock.waitForTimers(1, within: .milliseconds(1))))
    let task = Task { await clock.waitForTimers(1) }
    task.cancel()
    #expect(!(await task.value))
  }
}
