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
