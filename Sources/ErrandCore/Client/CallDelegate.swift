/// Is told how calls end, on the main actor. Held weakly.
///
/// The two ends have no default, so that a class which is meant to be subclassed has to implement them, and a subclass
/// overrides them. The other members have one. A default is chosen where the conformance is declared: if a subclass is
/// to implement ``requestCached(_:)`` or ``requestProgressed(_:_:)``, its superclass must implement it, too.
@MainActor
public protocol CallDelegate: AnyObject, Sendable {
  /// The call has its value.
  func requestFinished(_ call: FinishedCall)
  /// The stored answer of a call that gives it first; the end follows.
  func requestCached(_ call: FinishedCall)
  /// The call failed or was cancelled.
  func requestFailed(_ call: FailedCall)
  /// A body has come further.
  func requestProgressed(_ call: CallInfo, _ progress: TransferProgress)
}

extension CallDelegate {
  /// Nothing.
  public func requestCached(_ call: FinishedCall) {}
  /// Nothing.
  public func requestProgressed(_ call: CallInfo, _ progress: TransferProgress) {}
}

/// A call that failed.
public struct FailedCall: Sendable {
  /// Who the call is.
  public let info: CallInfo
  /// Why it failed.
  public let error: APIError
  /// The answer, if one came.
  public let response: HTTPResponse?
  /// Where the answer came from; nil where none came.
  public let origin: ResponseOrigin?
  /// What was measured.
  public let metrics: CallMetrics
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
  /// Whether it is the same answer that was told before as the stored one, in `cached, then fresh`.
  public let isUnchanged: Bool

  /// The value, if the call was one of this request type.
  public func value<R: APIRequest>(of type: R.Type) -> R.Response? {
    info.request is R ? value as? R.Response : nil
  }
}
