import ErrandCore
import ErrandSupport

/// Simulates a transfer at a given rate. Bytes are added to the transfer with ``add(_:)``. The class computes the time
/// at which all added bytes have been transferred, and can run an action at that time.
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

  /// The duration of a transfer of this many bytes; zero if there is no rate limit.
  func duration(of bytes: Int) -> Duration {
    guard let rate, bytes > 0 else { return .zero }
    return .seconds(Double(bytes) / Double(max(rate, 1)))
  }

  /// Adds bytes to the simulated transfer.
  func add(_ bytes: Int) {
    let (now, duration) = (clock.now, duration(of: bytes))
    state.withLock { $0.due = max($0.due, now).advanced(by: duration) }
  }

  /// Whether all added bytes have been transferred.
  var isFree: Bool { state.withLock { $0.due } <= clock.now }

  /// Runs `action` when all added bytes have been transferred.
  func whenFree(_ action: @escaping @Sendable () -> Void) {
    let token = clock.schedule(at: state.withLock { $0.due }, action)
    let isOver = state.withLock { state in
      state.token = token
      return state.isOver
    }
    if isOver { clock.cancel(token) }
  }

  /// Cancels the scheduled action. Call this function when the exchange has ended.
  func end() {
    let token = state.withLock { state in
      state.isOver = true
      return state.token
    }
    if let token { clock.cancel(token) }
  }
}
