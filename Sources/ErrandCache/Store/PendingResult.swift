package import ErrandCore
import ErrandSupport

/// The result of one job on the thread of a cache store, and whether the caller still waits for the result.
package final class PendingResult<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var value: Value?
    var wake: (@Sendable () -> Void)?
    var isOver = false
  }

  private let state = Locked(State())

  package init() {}

  /// Whether the caller still waits for the result.
  package var isOpen: Bool { state.withLock { !$0.isOver } }

  /// Sets the result, or nil if there will be no result. Only the first call has an effect.
  package func settle(_ value: Value?) {
    let wake: (@Sendable () -> Void)? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      state.value = value
      return state.wake.take()
    }
    wake?()
  }

  /// Starts the job with `start`, and waits for its result. Returns nil if the call is stopped, if the time `moment`
  /// passes before, or if there is no result.
  package func value(
    _ call: CallState, until moment: MonotonicInstant?, starting start: () -> Void
  ) async -> Value? {
    var timer: TimerToken?
    do throws(CallState.Stopped) {
      try await call.wait { wakeup in
        begin { wakeup.resume() }
        if let moment { timer = call.timers.schedule(at: moment) { self.settle(nil) } }
        start()
      }
    } catch {
      // Ignore the error: it only says that the call was stopped, and then nobody needs the result.
    }
    if let timer { call.timers.cancel(timer) }
    return leave()
  }

  /// Starts the job with `start`, and waits until it has a result, or until it is certain that there will be none.
  package func value(starting start: () -> Void) async -> Value? {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      begin { continuation.resume() }
      start()
    }
    return leave()
  }

  private func begin(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

  /// Ends the wait of the caller. Returns the result; nil if there is none.
  package func leave() -> Value? {
    state.withLock { state in
      state.isOver = true
      state.wake = nil
      return state.value.take()
    }
  }
}
