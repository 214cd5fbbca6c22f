import ErrandSupport
import ErrandCore

/// The reply to one question to Redis, and whether the caller still waits for it.
final class RedisTicket: Sendable {
  private struct State: Sendable {
    var answer: RedisReply?
    var wake: (@Sendable () -> Void)?
    var isOver = false
  }

  private let state = Locked(State())

  /// Sets the closure that wakes the caller.
  func begin(_ wake: @escaping @Sendable () -> Void) {
    state.withLock { $0.wake = wake }
  }

  /// Whether the question has no reply yet and the caller still waits.
  var isOpen: Bool { state.withLock { !$0.isOver } }

  /// Sets the reply, or nil if there will be no reply. Only the first call counts.
  func settle(_ answer: RedisReply?) {
    let wake: (@Sendable () -> Void)? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      state.answer = answer
      defer { state.wake = nil }
      return state.wake
    }
    wake?()
  }

  /// Ends the wait. Returns the reply; nil if there is none yet.
  func leave() -> RedisReply? {
    state.withLock { state in
      state.isOver = true
      state.wake = nil
      defer { state.answer = nil }
      return state.answer
    }
  }
}
