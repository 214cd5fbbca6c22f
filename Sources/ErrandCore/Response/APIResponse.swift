/// A successful response: the decoded value and its metadata.
public struct APIResponse<Value: Sendable>: Sendable {
  /// The decoded value.
  public let value: Value
  /// The request as it was last sent, after redirects.
  public let request: HTTPRequest
  /// The HTTP response: status, header fields and the bytes of the body.
  public let raw: HTTPResponse
  /// Whether the response comes from the network or the cache.
  public let origin: ResponseOrigin
  /// The measurements of the call, such as its duration.
  public let metrics: CallMetrics

  /// The status code of the response.
  public var status: Int { raw.status }
  /// The header fields of the response.
  public var fields: HTTPFields { raw.fields }
}
