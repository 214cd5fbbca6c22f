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
