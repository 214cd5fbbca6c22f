/// Receives the endings of calls, on the main actor. A call references its delegate weakly.
///
/// ``requestFinished(_:)`` and ``requestFailed(_:)`` have no default, so that a base class must implement them and a
/// subclass overrides them. The other members have a default, which Swift selects in the class that declares the
/// conformance. A subclass can therefore implement ``requestCached(_:)`` or ``requestProgressed(_:_:)`` only if its
/// superclass implements that member, too.
@MainActor
public protocol CallDelegate: AnyObject, Sendable {
  /// The call has its value.
  func requestFinished(_ call: FinishedCall)
  /// The stored response of a `cachedThenFresh` call arrived; the end follows.
  func requestCached(_ call: FinishedCall)
  /// The call failed or was cancelled.
  func requestFailed(_ call: FailedCall)
  /// More bytes of a body were sent or received.
  func requestProgressed(_ call: CallInfo, _ progress: TransferProgress)
}

extension CallDelegate {
  /// Does nothing.
  public func requestCached(_ call: FinishedCall) {}
  /// Does nothing.
  public func requestProgressed(_ call: CallInfo, _ progress: TransferProgress) {}
}

/// A call that failed.
public struct FailedCall: Sendable {
  /// The call's number, request, tag and initial priority.
  public let info: CallInfo
  /// The reason of the failure.
  public let error: APIError
  /// The response; nil if none arrived.
  public let response: HTTPResponse?
  /// The source of the response; nil if none arrived.
  public let origin: ResponseOrigin?
  /// The metrics of the call.
  public let metrics: CallMetrics
}

/// A call that has its value.
public struct FinishedCall: Sendable {
  /// The call's number, request, tag and initial priority.
  public let info: CallInfo
  /// The value, of the request's response type.
  public let value: any Sendable
  /// The request as it was last sent, after redirects.
  public let request: HTTPRequest
  /// Status, header fields and raw body.
  public let response: HTTPResponse
  /// The source of the response.
  public let origin: ResponseOrigin
  /// The metrics of the call.
  public let metrics: CallMetrics
  /// True if the response equals the stored response that ``CallDelegate/requestCached(_:)`` delivered before.
  public let isUnchanged: Bool

  /// The value, if the request of the call has this type; otherwise nil.
  public func value<R: APIRequest>(of type: R.Type) -> R.Response? {
    info.request is R ? value as? R.Response : nil
  }
}
