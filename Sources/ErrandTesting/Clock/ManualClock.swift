import ErrandSupport
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
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())

  /// Makes a clock that stands.
  public init() {}

  /// The present, as far as the clock was turned.
  public var now: MonotonicInstant { state.withLock { $0.now } }

  /// The actions that wait for their moment.
  public var pending: Int { state.withLock { $0.heap.count } }

  /// Keeps `action` until the clock is turned to `instant`; runs it at once where that has passed.
  public func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    let (token, woken) = state.withLock { state in
      let token = state.heap.insert(at: instant, action)
      let count = state.heap.count
      let woken = state.watchers.filter { $0.count <= count }.map(\.continuation)
      state.watchers.removeAll { $0.count <= count }
      return (token, woken)
    }
    for continuation in woken { continuation.resume() }
    runDue()
    return token
  }

  /// Takes an action out.
  public func cancel(_ token: TimerToken) {
    let removed = state.withLock { $0.heap.remove(token) }
    _ = removed
  }

  /// Turns the clock forward and runs what is due, in the order of the moments, on the caller's thread.
  public func advance(by duration: Duration) {
    state.withLock { $0.now = $0.now.advanced(by: duration) }
    runDue()
  }

  /// Waits until at least `count` actions are pending: until a call has come to its wait.
  public func waitForTimers(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.heap.count >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  private func runDue() {
    while let action = state.withLock({ $0.heap.popDue($0.now) }) { action() }
  }
}
