import ErrandSupport
import Dispatch

/// The timers of all transports that have no thread of their own. All timers share one heap and one dispatch timer.
public final class SharedTimers: Timers {
  /// The instance that all calls share.
  public static let shared = SharedTimers()

  private struct State: Sendable {
    var heap = TimerHeap()
    var armed: MonotonicInstant?
  }

  private let state = Locked(State())
  nonisolated(unsafe) private let source: any DispatchSourceTimer  // dispatch sources may be used from any thread

  init() {
    source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "errand.timers", qos: .userInitiated))
    source.setEventHandler { [weak self] in self?.fire() }
    source.activate()
  }

  deinit {
    source.cancel()
  }

  /// The current time of the system's monotonic clock.
  public var now: MonotonicInstant { .now }

  /// Runs `action` once at `instant`, on the dispatch queue of the timers.
  public func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    state.withLock { state in
      let token = state.heap.insert(at: instant, action)
      arm(&state)
      return token
    }
  }

  /// Removes a scheduled action. Has no effect if the action has already run or is about to run.
  public func cancel(_ token: TimerToken) {
    let removed = state.withLock { $0.heap.remove(token) }
    _ = removed
  }

  private func fire() {
    state.withLock { $0.armed = nil }
    while let action = state.withLock({ $0.heap.popDue(.now) }) { action() }
    state.withLock { arm(&$0) }
  }

  /// Sets the dispatch timer to the time of the earliest action. The caller holds the lock. Otherwise two threads could
  /// set the timer in the wrong order, and the earliest action would run too late.
  private func arm(_ state: inout State) {
    guard let next = state.heap.next else { return }
    if let armed = state.armed, armed <= next { return }
    state.armed = next
    let deadline = DispatchTime(uptimeNanoseconds: UInt64(clamping: next.nanoseconds))
    source.schedule(deadline: deadline, leeway: .nanoseconds(0))
  }
}
