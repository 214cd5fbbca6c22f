import ErrandSupport

/// Makes sure that an event stream can be cancelled while it has no connection: from the end of one connection until
/// the call of the next connection has started. During this time the loop processes the last events of the connection,
/// and the stream then waits. The stream has no running call, so a cancel would find nothing to cancel, and the stream
/// would connect again.
final class EventCancelWatch: Sendable {
  private enum Place: Sendable {
    /// The connection has not ended, or it ended while the client drains.
    case notEnlisted
    /// The stream is one of the running calls of the client, until the function is called.
    case enlisted(@Sendable () -> Void)
    /// The client drains, and refuses the next connection.
    case refused
    /// The call of the next connection has started, or the stream has ended.
    case ended
  }

  private let source: EventStream
  private let state: CallState
  /// Records whether the account of the connection is logged out, and whether draining has ended the stream.
  private let flags = CallFlags()
  private let place = Locked(Place.notEnlisted)
  /// The membership of the stream in the table of repeated calls; nil if it has none, or if the loop was left.
  weak let membership: RepeatMembership?

  /// - Parameters:
  ///   - account: The account of the connection; empty or nil for none.
  ///   - membership: The membership of the stream in the table of repeated calls, which the iterator owns.
  init(_ source: EventStream, _ account: String?, _ membership: RepeatMembership?) {
    self.source = source
    self.membership = membership
    state = CallState(deadline: nil, timers: source.timers, priority: .normal)
    if let account, !account.isEmpty { flags.add(account: account) }
  }

  deinit { end() }

  /// The error of a stream that was cancelled; nil if it was not cancelled, or if draining has ended it.
  var cancellation: APIError? {
    guard state.endsBy != nil, !flags.isDrained else { return nil }
    if flags.isLoggedOut { return .loggedOut }
    return membership?.supersession ?? APIError.stopped(.cancelled)
  }

  /// Adds the stream to the running calls of the client, so that it can be cancelled like a call. Does nothing if the
  /// stream has ended or never connects again.
  ///
  /// - Parameter call: The number of the call that ends.
  func begin(after call: UInt64) {
    guard source.rule.attempts > 0, case .notEnlisted = place.withLock({ $0 }) else { return }
    enlist(after: call)
  }

  /// Waits before the next connection. The stream remains one of the running calls of the client.
  /// - Throws: ``APIError`` if the stream was cancelled or the client drains.
  func sleep(for delay: Duration, isolation actor: isolated (any Actor)?) async throws(APIError) {
    guard isEnlisted() else { throw .draining }
    await withTaskCancellationHandler(
      operation: {
        _ = actor
        try? await state.sleep(until: source.timers.now.advanced(by: delay))
      },
      onCancel: { state.stop(.cancelled) }, isolation: actor)
    // Not the result of the wait, because the stream may have been cancelled after the wait ended.
    if let error = cancellation { throw error }
    if flags.isDrained { throw .draining }
  }

  /// Removes the stream from the running calls. Returns the error of a stream that was cancelled; nil if the stream was
  /// not cancelled. A later cancel has no effect.
  @discardableResult
  func end() -> APIError? {
    let old = place.withLock { place -> Place in
      defer { place = .ended }
      return place
    }
    switch old {
    case .ended: return nil
    case .enlisted(let leave): leave()
    case .notEnlisted, .refused: break
    }
    state.settle()
    _ = state.claim()
    _ = state.conclude()
    return cancellation
  }

  /// Whether the stream is one of the running calls. If it is not, because the client drains, the stream asks again, so
  /// that the client counts the refused connection.
  private func isEnlisted() -> Bool {
    switch place.withLock({ $0 }) {
    case .enlisted(let leave):
      if !flags.isDrained { return true }
      leave()
    case .notEnlisted: break
    case .refused, .ended: return false
    }
    enlist(after: nil)
    if case .enlisted = place.withLock({ $0 }) { return true }
    return false
  }

  private func enlist(after call: UInt64?) {
    let leave = source.enlist(state, flags, call)
    let isEnded = place.withLock { place in
      if case .ended = place { return true }
      place = leave.map { Place.enlisted($0) } ?? .refused
      return false
    }
    if isEnded { leave?() } else { membership?.follow(state) }
  }
}
