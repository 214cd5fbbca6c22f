/// A successful response: the decoded value and its metadata.
public struct APIResponse<Value: Sendable>: Sendable {
  /// The decoded value. For a ``CallDelegate`` its type is the `Response` type of the request;
  /// ``CallInfo/value(of:in:)`` returns it with this type.
  public let value: Value
  /// The request as it was last sent, after redirects.
  public let request: HTTPRequest
  /// The HTTP response: status, header fields and the bytes of the body.
  public let raw: HTTPResponse
  /// Whether the response comes from the network or the cache.
  public let origin: ResponseOrigin
  /// The metrics of the call, such as its duration.
  public let metrics: CallMetrics
  /// True if a `cachedThenFresh` call delivers a fresh response that equals the stored response that it delivered
  /// before.
  public let isUnchanged: Bool

  /// The status code of the response.
  public var status: Int { raw.status }
  /// The header fields of the response.
  public var fields: HTTPFields { raw.fields }

  /// A copy of the response with another value.
  func with<Other>(_ value: Other) -> APIResponse<Other> {
    APIResponse<Other>(
      value: value, request: request, raw: raw, origin: origin, metrics: metrics, isUnchanged: isUnchanged)
  }
}
