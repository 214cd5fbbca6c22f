/// A handle on one run of a request. The run continues to its end even if the handle is released.
public final class Call: Sendable {
  /// The call's number, request, tag and initial priority.
  public let info: CallInfo
  private let state: CallState

  init(info: CallInfo, state: CallState) {
    self.info = info
    self.state = state
  }

  /// The call's number.
  public var id: UInt64 { info.id }

  /// Cancels the call, which then ends with a failure of stage `cancelled`. If `cancel` is called on the callback
  /// executor, no success follows. It has no effect after the success or the failure was delivered. Any thread may call
  /// it.
  public func cancel() { state.stop(.cancelled) }

  /// The current priority of the call.
  public var priority: CallPriority { state.priority }

  /// Changes the priority of the call. If the call waits for admission, the new priority applies immediately, and the
  /// call keeps its place in the order of arrival. An exchange that already runs is not changed. The function has no
  /// effect after the success or the failure was delivered. Any thread may call it.
  public func change(priority: CallPriority) {
    if isExecuting { state.change(priority: priority) }
  }

  /// True until the delivery of the success or the failure begins.
  public var isExecuting: Bool { !state.isClaimed }

  /// True if the call has ended or will end as cancelled.
  public var isCancelled: Bool { state.endsBy == .cancelled }
}
