public import ErrandJSON

/// The settings that a family of requests shares, such as all requests of one service or of one business area.
///
/// ```swift
/// protocol ShopRequest: APIRequest {}
/// extension ShopRequest {
///   var family: RequestFamily? { RequestFamily("shop", baseURL: "https://shop.example.com/v2", headers: ["X-App": "shop"]) }
///   var method: HTTPMethod { .post }
/// }
/// ```
///
/// Header fields and arguments are merged name by name; the request overrides the family, and the family overrides the
/// client. For settings that this type does not contain, declare a default in the extension of the family's protocol,
/// such as `method` above.
public struct RequestFamily: Sendable {
  /// The name of the family, shown in logs.
  public var name: String
  /// The base URL; nil for the base URL of the client.
  public var baseURL: String?
  /// The URL of the CDN; nil for the CDN of the client.
  public var cdnURL: String?
  /// Header fields to set or to remove.
  public var headers: RequestHeaders
  /// Arguments of every request of the family. They go to the same place as the request's own arguments.
  public var arguments: Arguments
  /// The place of a request's arguments.
  public var argumentFormat: ArgumentFormat
  /// The text form of arguments.
  public var argumentStyle: ArgumentStyle
  /// The time-outs. A time-out that is nil is taken from the client.
  public var timeouts: Timeouts
  /// The rule for redirects.
  public var redirects: RedirectPolicy
  /// The rule for retries.
  public var retries: RetryPolicy
  /// The cache policy.
  public var cache: CachePolicy
  /// Decides which equal running calls share one exchange.
  public var joining: JoinRule
  /// Which statuses are success.
  public var statusRule: StatusRule
  /// The envelope around the value in a body.
  public var envelope: Envelope
  /// The format of responses whose request declares no decoder; nil for the format of the client.
  public var responseFormat: (any ResponseFormat)?
  /// The decoding of JSON.
  public var jsonDecoding: JSONDecoding
  /// The encoding of JSON.
  public var jsonEncoding: JSONEncoding

  /// Makes a family. Parameters that are not given are inherited from the client.
  public init(
    _ name: String, baseURL: String? = nil, cdnURL: String? = nil, headers: RequestHeaders = RequestHeaders(),
    arguments: Arguments = Arguments(), argumentFormat: ArgumentFormat = .inherited,
    argumentStyle: ArgumentStyle = .inherited, timeouts: Timeouts = .inherited, redirects: RedirectPolicy = .inherited,
    retries: RetryPolicy = .inherited, cache: CachePolicy = .inherited, joining: JoinRule = .inherited,
    statusRule: StatusRule = .inherited, envelope: Envelope = .inherited,
    responseFormat: (any ResponseFormat)? = nil, jsonDecoding: JSONDecoding = .inherited,
    jsonEncoding: JSONEncoding = .inherited
  ) {
    self.name = name
    self.baseURL = baseURL
    self.cdnURL = cdnURL
    self.headers = headers
    self.arguments = arguments
    self.argumentFormat = argumentFormat
    self.argumentStyle = argumentStyle
    self.timeouts = timeouts
    self.redirects = redirects
    self.retries = retries
    self.cache = cache
    self.joining = joining
    self.statusRule = statusRule
    self.envelope = envelope
    self.responseFormat = responseFormat
    self.jsonDecoding = jsonDecoding
    self.jsonEncoding = jsonEncoding
  }
}

extension RequestFamily: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name and the base URL; the values of the URL's query are masked.
  public var description: String { baseURL.map { "\(name): \(Redaction.url($0))" } ?? name }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// The children that `dump` shows; the values of the URLs' queries are masked.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "name": name, "baseURL": baseURL.map(Redaction.url) as Any, "cdnURL": cdnURL.map(Redaction.url) as Any,
        "headers": headers, "arguments": arguments, "argumentFormat": argumentFormat, "argumentStyle": argumentStyle,
        "timeouts": timeouts, "redirects": redirects, "retries": retries, "cache": cache, "joining": joining,
        "statusRule": statusRule, "envelope": envelope, "responseFormat": responseFormat as Any,
        "jsonDecoding": jsonDecoding, "jsonEncoding": jsonEncoding,
      ], displayStyle: .struct)
  }
}
