import ErrandSupport
import ErrandCore

/// The reply to one command for Redis, and whether the caller still waits for this reply.
final class PendingReply: Sendable {
  private struct State: Sendable {
    var reply: RedisReply?
    var wake: (@Sendable () -> Void)?
    var isOver = false
  }

  private let state = Locked(State())

  /// Sets the closure that wakes the waiting caller.
  func begin(_ wake: @escaping @Sendable () -> Void) {
    state.withLock { $0.wake = wake }
  }

  /// Whether the caller still waits for the reply to the command.
  var isOpen: Bool { state.withLock { !$0.isOver } }

  /// Sets the reply, or nil if no reply will arrive. Only the first call of this method has an effect.
  func settle(_ reply: RedisReply?) {
    let wake: (@Sendable () -> Void)? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      state.reply = reply
      defer { state.wake = nil }
      return state.wake
    }
    wake?()
  }

  /// Ends the wait of the caller. Returns the reply; nil if no reply has arrived.
  func leave() -> RedisReply? {
    state.withLock { state in
      state.isOver = true
      state.wake = nil
      defer { state.reply = nil }
      return state.reply
    }
  }
}
