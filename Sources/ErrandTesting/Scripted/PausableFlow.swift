import ErrandSupport
import ErrandCore

/// Lets a call wait while a body is paused. If the body is resumed before `wait` begins, `wait` returns at once.
final class PausableFlow: Sendable {
  private struct State: Sendable {
    var isResumed = false
    var wakeup: Wakeup?
  }

  private let state = Locked(State())

  func pause() { state.withLock { $0 = State() } }

  func resume() {
    let wakeup = state.withLock { state in
      state.isResumed = true
      return state.wakeup
    }
    wakeup?.resume()
  }

  func wait(_ call: CallState) async throws(CallState.Stopped) {
    try await call.wait { wakeup in
      let isResumed = state.withLock { state in
        state.wakeup = wakeup
        return state.isResumed
      }
      if isResumed { wakeup.resume() }
    }
  }
}
