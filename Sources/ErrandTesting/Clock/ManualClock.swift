public import ErrandCore

/// A clock that stands still until a test turns it: deadlines and delays without waiting.
///
/// ```swift
/// let clock = ManualClock()
/// configuration.timers = clock
/// …
/// await clock.waitForTimers(1)          // the call waits now
/// clock.advance(by: .seconds(120))      // its deadline passes
/// ```
public final class ManualClock: Timers {
  private struct State: Sendable {
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    var heap = TimerHeap()
  }

  private let state = Observed(State())

  /// Makes a clock that stands.
  public init() {}

  /// The present, as far as the clock was turned.
  public var now: MonotonicInstant { state.value.now }

  /// The actions that wait for their moment.
  public var pending: Int { state.value.heap.count }

  /// Keeps `action` until the clock is turned to `instant`; runs it at once where that has passed.
  public func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    let token = state.update { $0.heap.insert(at: instant, action) }
    runDue()
    return token
  }

  /// Takes an action out.
  public func cancel(_ token: TimerToken) {
    let removed = state.update { $0.heap.remove(token) }
    _ = removed
  }

  /// Turns the clock forward and runs what is due, in the order of the moments, on the caller's thread.
  public func advance(by duration: Duration) {
    state.update { $0.now = $0.now.advanced(by: duration) }
    runDue()
  }

  /// Waits until at least `count` actions are pending: until a call has come to its wait.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - bound: How long to wait at most, by the system's clock.
  /// - Returns: Whether they are; false where `bound` has passed or the task is cancelled, so that a test whose call ends
  ///   before its wait goes on and says what it misses.
  @discardableResult
  public func waitForTimers(_ count: Int, within bound: Duration = .seconds(30)) async -> Bool {
    await state.reaches("\(count) timers", within: bound) { $0.heap.count >= count }
  }

  private func runDue() {
    while let action = state.update({ $0.heap.popDue($0.now) }) { action() }
  }
}
