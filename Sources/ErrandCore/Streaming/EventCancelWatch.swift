import ErrandSupport

/// Notices that an event stream is cancelled after a connection has ended and before the wait for the next connection
/// begins. During this time the loop processes the last events of the connection, and the stream has no running call.
/// Without this object, a cancel would find nothing to cancel, and the stream would connect again.
final class EventCancelWatch: Sendable {
  private let source: EventStream
  private let state: CallState
  /// Records whether the account of the connection is logged out.
  private let flags = CallFlags()
  /// Removes the stream from the running calls of the client; nil if the stream is not one of them.
  private let leave = Locked<(@Sendable () -> Void)?>(nil)

  /// - Parameter account: The account of the connection; empty or nil for none.
  init(_ source: EventStream, _ account: String?) {
    self.source = source
    state = CallState(deadline: nil, timers: source.timers, priority: .normal)
    if let account, !account.isEmpty { flags.add(account: account) }
  }

  deinit { end() }

  /// Adds the stream to the running calls of the client, so that it can be cancelled like a call. Does nothing if the
  /// stream never connects again.
  func begin() {
    guard source.rule.attempts > 0 else { return }
    let leave = source.enlist(state, flags)
    self.leave.withLock { $0 = leave }
  }

  /// Removes the stream from the running calls. Returns the error of a stream that was cancelled; nil if the stream was
  /// not cancelled.
  @discardableResult
  func end() -> APIError? {
    leave.withLock({ $0.take() })?()
    state.settle()
    guard state.endsBy != nil, !flags.isDrained else { return nil }
    return flags.isLoggedOut ? .loggedOut : .stopped(.cancelled)
  }
}
