/// What a family of requests shares: one service, one business area.
///
/// ```swift
/// protocol ShopRequest: APIRequest {}
/// extension ShopRequest {
///   var family: RequestFamily? { RequestFamily("shop", baseURL: "https://shop.example.com/v2", headers: ["X-App": "shop"]) }
///   var method: HTTPMethod { .post }
/// }
/// ```
///
/// Fields and arguments are merged name by name; the request's word wins over the family's, the family's over the
/// client's. Anything else a family shares is a default in its protocol's extension, as `method` above.
public struct RequestFamily: Sendable {
  /// The name, shown in logs.
  public var name: String
  /// The base URL; nil for the client's.
  public var baseURL: String?
  /// The CDN's URL; nil for the client's.
  public var cdnURL: String?
  /// What the family says about header fields.
  public var headers: RequestHeaders
  /// Arguments that every request of the family carries, in the place where its own go.
  public var arguments: Arguments
  /// The time-outs; nil parts are left to the client.
  public var timeouts: Timeouts?
  /// How calls are tried again; nil for the client's policy.
  public var retries: RetryPolicy?
  /// Which statuses are success; nil for the client's rule.
  public var statusRule: StatusRule?
  /// What stands round the values; nil for the client's envelope.
  public var envelope: Envelope?
  /// The format of answers whose request declares no decoder; nil for the client's.
  public var responseFormat: (any ResponseFormat)?
  /// How arguments are written; nil for the client's style.
  public var argumentStyle: ArgumentStyle?
  /// How answers are kept; ``CachePolicy/inherited`` for the client's rules.
  public var cache: CachePolicy

  /// Makes a family.
  public init(
    _ name: String, baseURL: String? = nil, cdnURL: String? = nil, headers: RequestHeaders = RequestHeaders(),
    arguments: Arguments = Arguments(), timeouts: Timeouts? = nil, statusRule: StatusRule? = nil,
    envelope: Envelope? = nil, argumentStyle: ArgumentStyle? = nil, cache: CachePolicy = .inherited,
    retries: RetryPolicy? = nil, responseFormat: (any ResponseFormat)? = nil
  ) {
    self.name = name
    self.baseURL = baseURL
    self.cdnURL = cdnURL
    self.headers = headers
    self.arguments = arguments
    self.timeouts = timeouts
    self.statusRule = statusRule
    self.envelope = envelope
    self.argumentStyle = argumentStyle
    self.cache = cache
    self.retries = retries
    self.responseFormat = responseFormat
  }
}

extension RequestFamily: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Name and base URL, the values of its query masked.
  public var description: String { baseURL.map { "\(name): \(Redaction.url($0))" } ?? name }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// The children of a dump: the URLs with the values of their queries masked.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "name": name, "baseURL": baseURL.map(Redaction.url) as Any, "cdnURL": cdnURL.map(Redaction.url) as Any,
        "headers": headers, "arguments": arguments, "timeouts": timeouts as Any, "retries": retries as Any,
        "statusRule": statusRule as Any, "envelope": envelope as Any, "responseFormat": responseFormat as Any,
        "argumentStyle": argumentStyle as Any, "cache": cache,
      ], displayStyle: .struct)
  }
}
