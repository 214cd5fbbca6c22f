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

  /// The callback that receives the progress; nil if the delegate is no ``CallProgressDelegate``.
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
