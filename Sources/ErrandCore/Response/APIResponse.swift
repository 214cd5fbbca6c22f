/// A successful response: the decoded value and its metadata.
public struct APIResponse<Value: Sendable>: Sendable {
  /// The decoded value.
  public let value: Value
  /// The request as it was last sent, after redirects.
  public let request: HTTPRequest
  /// Status, header fields and raw body.
  public let raw: HTTPResponse
  /// Whether the response comes from the network or the cache.
  public let origin: ResponseOrigin
  /// The measurements of the call.
  public let metrics: CallMetrics

  /// The status code.
  public var status: Int { raw.status }
  /// The header fields.
  public var fields: HTTPFields { raw.fields }
}
