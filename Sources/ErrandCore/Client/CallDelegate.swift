/// Receives the endings of calls, on the main actor. A call references its delegate weakly.
///
/// ``requestFinished(_:)`` and ``requestFailed(_:)`` have no default, so that a base class must implement them and a
/// subclass overrides them. The other members have a default, which Swift selects in the class that declares the
/// conformance. A subclass can therefore implement ``requestCached(_:)`` or ``requestProgressed(_:_:)`` only if its
/// superclass implements that member, too.
@MainActor
public protocol CallDelegate: AnyObject, Sendable {
  /// The call succeeded; the argument contains its value.
  func requestFinished(_ call: FinishedCall)
  /// A `cachedThenFresh` call delivers its stored response. A call of ``requestFinished(_:)`` or ``requestFailed(_:)``
  /// follows.
  func requestCached(_ call: FinishedCall)
  /// The call failed or was cancelled.
  func requestFailed(_ call: FailedCall)
  /// More bytes of the request body were sent, or more bytes of the response body were received.
  func requestProgressed(_ call: CallInfo, _ progress: TransferProgress)
}

extension CallDelegate {
  /// Does nothing by default.
  public func requestCached(_ call: FinishedCall) {}
  /// Does nothing by default.
  public func requestProgressed(_ call: CallInfo, _ progress: TransferProgress) {}
}

/// A call that failed.
public struct FailedCall: Sendable {
  /// The call's number, request, tag and initial priority.
  public let info: CallInfo
  /// The reason of the failure.
  public let error: APIError
  /// The response; nil if the call failed before a response arrived.
  public let response: HTTPResponse?
  /// The source of the response, such as the network or the cache; nil if no response arrived.
  public let origin: ResponseOrigin?
  /// The metrics of the call.
  public let metrics: CallMetrics
}

/// A call that succeeded, with its value.
public struct FinishedCall: Sendable {
  /// The call's number, request, tag and initial priority.
  public let info: CallInfo
  /// The decoded value, whose type is the `Response` type of the request.
  public let value: any Sendable
  /// The request as it was last sent, after redirects.
  public let request: HTTPRequest
  /// The response: status, header fields and the undecoded body.
  public let response: HTTPResponse
  /// The source of the response, such as the network or the cache.
  public let origin: ResponseOrigin
  /// The metrics of the call.
  public let metrics: CallMetrics
  /// True if the response equals the stored response that ``CallDelegate/requestCached(_:)`` delivered before.
  public let isUnchanged: Bool

  /// The decoded value, if the request of the call has the given type; otherwise nil.
  public func value<R: APIRequest>(of type: R.Type) -> R.Response? {
    info.request is R ? value as? R.Response : nil
  }
}
