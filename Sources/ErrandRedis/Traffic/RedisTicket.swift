import ErrandSupport
import ErrandCore

/// One question to Redis: the answer, and whether somebody still waits for it.
final class RedisTicket: Sendable {
  private struct State: Sendable {
    var answer: RedisReply?
    var wake: (@Sendable () -> Void)?
    var isOver = false
  }

  private let state = Locked(State())

  /// Notes how to wake the one who waits.
  func begin(_ wake: @escaping @Sendable () -> Void) {
    state.withLock { $0.wake = wake }
  }

  /// Whether nobody has answered and nobody has left.
  var isOpen: Bool { state.withLock { !$0.isOver } }

  /// Answers, or says by nil that no answer will come. Only the first counts.
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

  /// Ends the waiting; returns the answer that came.
  func leave() -> RedisReply? {
    state.withLock { state in
      state.isOver = true
      state.wake = nil
      defer { state.answer = nil }
      return state.answer
    }
  }
}
