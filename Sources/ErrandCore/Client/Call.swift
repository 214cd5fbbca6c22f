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

/// Receives the endings of calls, on the main actor. A call references its delegate weakly.
///
/// No function of a delegate has a default implementation, so a class that conforms implements them, and a subclass
/// overrides them. Delegates that also conform to ``CallProgressDelegate`` receive the progress of their calls.
@MainActor
public protocol CallDelegate: AnyObject, Sendable {
  /// The call succeeded. ``CallInfo/value(of:in:)`` returns the value with its type.
  func requestFinished(_ call: CallInfo, _ response: APIResponse<any Sendable>)
  /// The call failed or was cancelled. The error contains the request, the response and the metrics.
  func requestFailed(_ call: CallInfo, _ error: APIError)
}

/// Receives the stored response of a `cachedThenFresh` call, too.
@MainActor
public protocol CachedCallDelegate: CallDelegate {
  /// The call delivers its stored response. A call of ``CallDelegate/requestFinished(_:_:)`` or
  /// ``CallDelegate/requestFailed(_:_:)`` follows.
  func requestCached(_ call: CallInfo, _ response: APIResponse<any Sendable>)
}

/// Receives the progress of calls, too.
@MainActor
public protocol CallProgressDelegate: CallDelegate {
  /// More bytes of the request body were sent, or more bytes of the response body were received.
  func requestProgressed(_ call: CallInfo, _ progress: TransferProgress)
}

extension CallDelegate {
  func notify(_ info: CallInfo, _ outcome: Outcome<some Sendable>) {
    switch outcome.result {
    case .success: if let response = outcome.erased { requestFinished(info, response) }
    case .failure(let error): requestFailed(info, error)
    }
  }

  nonisolated var progressCallback: ProgressCallback? {
    guard let delegate = self as? any CallProgressDelegate else { return nil }
    return { [weak delegate] info, progress in
      MainActor.assumeIsolated { delegate?.requestProgressed(info, progress) }
    }
  }
}

extension CallInfo {
  /// The decoded value of a response, if the request of the call has the given type; otherwise nil.
  public func value<R: APIRequest>(of type: R.Type, in response: APIResponse<any Sendable>) -> R.Response? {
    request is R ? response.value as? R.Response : nil
  }
}
