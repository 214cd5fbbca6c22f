import ErrandSupport
import ErrandCore

/// A pause that a resume ends, also one that came first.
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
