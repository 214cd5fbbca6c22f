/// A handle on one run of a request. The run lives to its end though nobody holds it.
public final class Call: Sendable {
  /// Who the call is.
  public let info: CallInfo
  private let state: CallState

  init(info: CallInfo, state: CallState) {
    self.info = info
    self.state = state
  }

  /// The call's number.
  public var id: UInt64 { info.id }

  /// Cancels the call. Its terminal event is a failure of stage `cancelled`; where it was called on the callback
  /// executor, no success follows. No effect after the terminal event. Any thread.
  public func cancel() { state.stop(.cancelled) }

  /// How urgent the call is now.
  public var priority: CallPriority { state.priority }

  /// Changes how urgent the call is: at once where it waits for its turn, its place by arrival kept. An exchange that
  /// runs already goes on as it is. No effect after the terminal event. Any thread.
  public func change(priority: CallPriority) {
    if isExecuting { state.change(priority: priority) }
  }

  /// Whether the terminal event has not come yet.
  public var isExecuting: Bool { !state.isClaimed }

  /// Whether the call ends, or has ended, as cancelled.
  public var isCancelled: Bool { state.endsBy == .cancelled }
}
