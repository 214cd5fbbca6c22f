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

  /// Cancels the call, which then ends with a failure of stage `cancelled`. If this method is called on the callback
  /// executor, the call reports no success afterwards. The method has no effect after the success or the failure was
  /// delivered. Any thread may call the method.
  public func cancel() { state.stop(.cancelled) }

  /// The current priority of the call.
  public var priority: CallPriority { state.priority }

  /// Changes the priority of the call. If the call waits for its turn in the queue of the client, the new priority
  /// applies immediately. Among calls of the same priority, the call keeps its place in the order of arrival. A running
  /// exchange is not changed. The method has no effect after the success or the failure was delivered. Any thread may
  /// call the method.
  public func change(priority: CallPriority) {
    if isExecuting { state.change(priority: priority) }
  }

  /// True until the delivery of the success or the failure begins.
  public var isExecuting: Bool { !state.isClaimed }

  /// True if the call was cancelled: it has ended as cancelled, or will end as cancelled.
  public var isCancelled: Bool { state.endsBy == .cancelled }
}
