public import ErrandJSON
import ErrandSupport

/// The settings that a group of requests (a family) shares, such as all requests of one service or of one business
/// area.
///
/// ```swift
/// protocol ShopRequest: APIRequest {}
/// extension ShopRequest {
///   var family: RequestFamily? {
///     RequestFamily("shop", baseURL: "https://shop.example.com/v2", headers: ["X-App": "shop"])
///   }
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
  /// Header fields that every request of the family sets or removes.
  public var headers: RequestHeaders
  /// Arguments of every request of the family. They go to the place of the request's own arguments: the query or the
  /// body.
  public var arguments: Arguments
  /// The place of the arguments: the query, a form body or a JSON body.
  public var argumentFormat: ArgumentFormat
  /// How arguments such as lists, dates and Booleans are written as text.
  public var argumentStyle: ArgumentStyle
  /// The time-outs of the family. For each time-out that is nil, the time-out of the client applies.
  public var timeouts: Timeouts
  /// The rule for redirects: the call follows them, returns them as a response, or fails.
  public var redirects: RedirectPolicy
  /// The rule by which failed exchanges are tried again.
  public var retries: RetryPolicy
  /// The policy by which responses are stored and served from the cache.
  public var cache: CachePolicy
  /// The rule by which equal running calls share one exchange.
  public var joining: JoinRule
  /// The maximum size of a response body in memory.
  public var bodyLimit: BodyLimit
  /// The status codes that count as success.
  public var statusRule: StatusRule
  /// The JSON members that surround the value in a response body, such as a result code and a message.
  public var envelope: Envelope
  /// The format of responses whose request declares no decoder; nil for the format of the client.
  public var responseFormat: (any ResponseFormat)? {
    get { format?.value }
    set { format = newValue.map(SharedFormat.init) }
  }
  /// The rules by which response bodies are decoded from JSON.
  public var jsonDecoding: JSONDecoding
  /// The rules by which request bodies are encoded as JSON.
  public var jsonEncoding: JSONEncoding
  private(set) var format: SharedFormat?

  /// Makes a family. Settings that are not given are inherited from the client.
  public init(
    _ name: String, baseURL: String? = nil, cdnURL: String? = nil, headers: RequestHeaders = RequestHeaders(),
    arguments: Arguments = Arguments(), argumentFormat: ArgumentFormat = .inherited,
    argumentStyle: ArgumentStyle = .inherited, timeouts: Timeouts = .inherited, redirects: RedirectPolicy = .inherited,
    retries: RetryPolicy = .inherited, cache: CachePolicy = .inherited, joining: JoinRule = .inherited,
    bodyLimit: BodyLimit = .inherited, statusRule: StatusRule = .inherited, envelope: Envelope = .inherited,
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
    self.bodyLimit = bodyLimit
    self.statusRule = statusRule
    self.envelope = envelope
    format = responseFormat.map(SharedFormat.init)
    self.jsonDecoding = jsonDecoding
    self.jsonEncoding = jsonEncoding
  }
}

extension RequestFamily: Masked {
  /// The name and the base URL; the values of the URL's query are masked.
  public var description: String { baseURL.map { "\(name): \(Redaction.url($0))" } ?? name }
  /// All properties; the values of the URLs' queries are masked.
  package var shownParts: KeyValuePairs<String, Any> {
    [
      "name": name, "baseURL": baseURL.map(Redaction.url) as Any, "cdnURL": cdnURL.map(Redaction.url) as Any,
      "headers": headers, "arguments": arguments, "argumentFormat": argumentFormat, "argumentStyle": argumentStyle,
      "timeouts": timeouts, "redirects": redirects, "retries": retries, "cache": cache, "joining": joining,
      "bodyLimit": bodyLimit, "statusRule": statusRule, "envelope": envelope, "responseFormat": responseFormat as Any,
      "jsonDecoding": jsonDecoding, "jsonEncoding": jsonEncoding,
    ]
  }
}

/// The family of a call in an object. The parts of a call then share the many settings of the family instead of copying
/// them.
final class SharedFamily: Sendable {
  let settings: RequestFamily

  init(_ settings: RequestFamily) { self.settings = settings }
}
