public import ErrandCore

/// A clock that advances only when a test advances it. With this clock, a test can check deadlines and delays without
/// waiting.
///
/// ```swift
/// let clock = ManualClock()
/// configuration.timers = clock
/// …
/// #expect(await clock.waitForTimers(1))  // the call has set its timer
/// clock.advance(by: .seconds(120))       // the deadline of the call passes
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

  /// The number of scheduled actions that have not run yet.
  public var pending: Int { state.value.heap.count }

  /// Schedules `action` for the time `instant`. If that time has passed, the action runs immediately.
  public func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    let token = state.update { $0.heap.insert(at: instant, action) }
    runDue()
    return token
  }

  /// Cancels a scheduled action, so that it does not run.
  public func cancel(_ token: TimerToken) {
    state.update { $0.heap.remove(token) }
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
  ///   - bound: The maximum time to wait, in real time.
  /// - Returns: True when the actions are scheduled; false after `bound`, or if the task is cancelled. Check the value,
  ///   with `#expect`: if a call ends before it sets its timer, no timer is set, and the test would continue after
  ///   `bound` without a reason for its failure.
  public func waitForTimers(_ count: Int, within bound: Duration = .seconds(30)) async -> Bool {
    await state.reaches("\(count) timers", within: bound) { $0.heap.count >= count }
  }

  private func runDue() {
    while let action = state.update({ $0.heap.popDue($0.now) }) { action() }
  }
}
