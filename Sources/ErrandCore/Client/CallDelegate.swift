/// Is told how calls end, on the main actor. Held weakly. Every member has a default.
@MainActor
public protocol CallDelegate: AnyObject, Sendable {
  /// The call has its value.
  func requestFinished(_ call: FinishedCall)
  /// The call failed or was cancelled.
  func requestFailed(_ call: FailedCall)
  /// A body has come further.
  func requestProgressed(_ call: CallInfo, _ progress: TransferProgress)
}

extension CallDelegate {
  /// Nothing.
  public func requestFinished(_ call: FinishedCall) {}
  /// Nothing.
  public func requestFailed(_ call: FailedCall) {}
  /// Nothing.
  public func requestProgressed(_ call: CallInfo, _ progress: TransferProgress) {}
}

/// A call that has its value.
public struct FinishedCall: Sendable {
  /// Who the call is.
  public let info: CallInfo
  /// The value, of the request's response type.
  public let value: any Sendable
  /// The request as it was sent last, redirects followed.
  public let request: HTTPRequest
  /// Status, fields and raw body.
  public let response: HTTPResponse
  /// Where the answer came from.
  public let origin: ResponseOrigin
  /// What was measured.
  public let metrics: CallMetrics

  /// The value, if the call was one of this request type.
  public func value<R: APIRequest>(of type: R.Type) -> R.Response? {
    info.request is R ? value as? R.Response : nil
  }
}

/// A call that failed.
public struct FailedCall: Sendable {
  /// Who the call is.
  public let info: CallInfo
  /// Why it failed.
  public let error: APIError
  /// The answer, if one came.
  public let response: HTTPResponse?
  /// What was measured.
  public let metrics: CallMetrics
}
