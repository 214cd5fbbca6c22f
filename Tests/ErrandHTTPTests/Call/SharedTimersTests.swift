import Dispatch
import ErrandHTTP
import ErrandTesting
import Testing
import TestSupport

@Suite(.serialized) struct SharedTimersTests {
  private let timers = SharedTimers.shared

  @Test func `actions run in order`() async {
    let order = Recorded<Int>()
    let start = timers.now
    let hold = DispatchSemaphore(value: 0)
    _ = timers.schedule(at: start) { hold.wait() }
    await withCheckedContinuation { continuation in
      for index in [7, 3, 19, 0, 12, 5, 1, 18, 9, 2, 14, 4, 11, 6, 17, 8, 13, 10, 16, 15] {
        _ = timers.schedule(at: start.advanced(by: .microseconds(1 + index))) {
          order.append(index)
          if index == 19 { continuation.resume() }
        }
      }
      hold.signal()
    }
    #expect(order.all == Array(0..<20))
  }

  @Test func `cancelled action does not run`() async {
    let ran = Recorded<Int>()
    let start = timers.now
    let hold = DispatchSemaphore(value: 0)
    _ = timers.schedule(at: start) { hold.wait() }
    let token = timers.schedule(at: start.advanced(by: .microseconds(1))) { ran.append(1) }
    timers.cancel(token)
    timers.cancel(token)
    await withCheckedContinuation { continuation in
      _ = timers.schedule(at: start.advanced(by: .microseconds(2))) { continuation.resume() }
      hold.signal()
    }
    #expect(ran.all.isEmpty)
  }

  @Test func `past action runs soon`() async {
    await withCheckedContinuation { continuation in
      _ = timers.schedule(at: timers.now.advanced(by: .seconds(-1))) { continuation.resume() }
    }
  }

  @Test func `action may schedule and cancel`() async {
    await withCheckedContinuation { continuation in
      _ = timers.schedule(at: timers.now) { [timers] in
        timers.cancel(timers.schedule(at: timers.now) {})
        _ = timers.schedule(at: timers.now.advanced(by: .milliseconds(1))) { continuation.resume() }
      }
    }
  }

  @Test func `lateness stays below 100 milliseconds`() async {
    // Takes the best of up to twenty rounds, because other load on the machine delays some of them.
    var best = Duration.seconds(60)
    for _ in 0..<20 where best >= .milliseconds(100) {
      var late: [Duration] = []
      for _ in 0..<20 {
        let goal = timers.now.advanced(by: .milliseconds(5))
        await withCheckedContinuation { continuation in
          _ = timers.schedule(at: goal) { continuation.resume() }
        }
        let lateness = goal.duration(to: timers.now)
        #expect(lateness >= .zero, "never early")
        late.append(lateness)
      }
      late.sort()
      print("shared timers: late by \(late[10]) (median of 20), at worst \(late[19])")
      best = min(best, late[10])
    }
    if !isSanitized { #expect(best < .milliseconds(100)) }
  }

  @Test func `threads share one timer heap`() async {
    let fired = Recorded<Int>()
    await withTaskGroup(of: Void.self) { group in
      for lane in 0..<8 {
        group.addTask {
          for index in 0..<rounds {
            await withCheckedContinuation { continuation in
              let kept = timers.schedule(at: timers.now.advanced(by: .microseconds((index * 7 + lane * 13) % 50))) {
                fired.append(1)
                continuation.resume()
              }
              let dropped = timers.schedule(at: timers.now.advanced(by: .seconds(60))) { fired.append(2) }
              timers.cancel(dropped)
              _ = kept
            }
          }
        }
      }
    }
    #expect(fired.count == 8 * rounds)
  }
}
