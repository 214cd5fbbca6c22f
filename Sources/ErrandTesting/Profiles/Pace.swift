import ErrandCore
import ErrandSupport

/// Says when bytes that go at a rate have gone, and wakes whoever waits for it.
final class Pace: Sendable {
  private struct State: Sendable {
    var due: MonotonicInstant
    var token: TimerToken?
    var isOver = false
  }

  private let rate: Int?
  private let clock: any Timers
  private let state: Locked<State>

  init(rate: Int?, clock: any Timers) {
    self.rate = rate
    self.clock = clock
    state = Locked(State(due: clock.now))
  }

  /// How long so many bytes take.
  func duration(of bytes: Int) -> Duration {
    guard let rate, bytes > 0 else { return .zero }
    return .seconds(Double(bytes) / Double(max(rate, 1)))
  }

  /// Counts bytes in.
  func add(_ bytes: Int) {
    let (now, duration) = (clock.now, duration(of: bytes))
    state.withLock { $0.due = max($0.due, now).advanced(by: duration) }
  }

  /// Whether all bytes that were counted in have gone.
  var isFree: Bool { state.withLock { $0.due } <= clock.now }

  /// Runs `action` once they have.
  func whenFree(_ action: @escaping @Sendable () -> Void) {
    let token = clock.schedule(at: state.withLock { $0.due }, action)
    let isOver = state.withLock { state in
      state.token = token
      return state.isOver
    }
    if isOver { clock.cancel(token) }
  }

  /// Lets go of whoever waits: the exchange is over.
  func end() {
    let token = state.withLock { state in
      state.isOver = true
      return state.token
    }
    if let token { clock.cancel(token) }
  }
}
