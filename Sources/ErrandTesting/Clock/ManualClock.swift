public import ErrandCore

/// A clock that advances only when a test advances it. With it, a test can check deadlines and delays without waiting.
///
/// ```swift
/// let clock = ManualClock()
/// configuration.timers = clock
/// …
/// await clock.waitForTimers(1)          // the call has set its timer
/// clock.advance(by: .seconds(120))      // its deadline passes
/// ```
public final class ManualClock: Timers {
  private struct State: Sendable {
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    var heap = TimerHeap()
  }

  private let state = Observed(State())

  /// Creates a clock that does not advance by itself.
  public init() {}

  /// The current time of this clock.
  public var now: MonotonicInstant { state.value.now }

  /// The number of scheduled actions.
  public var pending: Int { state.value.heap.count }

  /// Schedules `action` for the time `instant`. If that time has passed, the action runs immediately.
  public func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    let token = state.update { $0.heap.insert(at: instant, action) }
    runDue()
    return token
  }

  /// Cancels a scheduled action.
  public func cancel(_ token: TimerToken) {
    let removed = state.update { $0.heap.remove(token) }
    _ = removed
  }

  /// Advances the clock and runs the actions that are due, in the order of their times, on the caller's thread.
  public func advance(by duration: Duration) {
    state.update { $0.now = $0.now.advanced(by: duration) }
    runDue()
  }

  /// Waits until at least `count` actions are scheduled, for example until a call waits for its deadline.
  ///
  /// - Parameters:
  ///   - count: The number of actions.
  ///   - bound: The maximum wait in real time.
  /// - Returns: False after `bound`, or if the task is cancelled. It does not throw, so that a test whose call ends too
  ///   early continues and reports its own failure.
  @discardableResult
  public func waitForTimers(_ count: Int, within bound: Duration = .seconds(30)) async -> Bool {
    await state.reaches("\(count) timers", within: bound) { $0.heap.count >= count }
  }

  private func runDue() {
    while let action = state.update({ $0.heap.popDue($0.now) }) { action() }
  }
}
