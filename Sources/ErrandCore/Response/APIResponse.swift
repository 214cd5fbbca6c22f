/// A successful answer: the value beside all that came with it.
public struct APIResponse<Value: Sendable>: Sendable {
  /// The decoded value.
  public let value: Value
  /// The request as it was sent last, redirects followed.
  public let request: HTTPRequest
  /// Status, fields and raw body.
  public let raw: HTTPResponse
  /// Where it came from.
  public let origin: ResponseOrigin
  /// What was measured.
  public let metrics: CallMetrics

  /// The status code.
  public var status: Int { raw.status }
  /// The header fields.
  public var fields: HTTPFields { raw.fields }
}
