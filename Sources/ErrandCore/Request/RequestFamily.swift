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
/// client. Formats, overlap, validation and time-outs are merged property by property. For settings that this type does
/// not contain, declare a default in the extension of the family's protocol, such as `method` above. A request that
/// declares the same property replaces such a default as a whole.
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
  /// How arguments become text, and how responses are read.
  public var formats: Formats
  /// The time-outs of the family. For each time-out that is nil, the time-out of the client applies.
  public var timeouts: Timeouts
  /// The rule for redirects: the call follows them, returns them as a response, or fails.
  public var redirects: RedirectPolicy
  /// The rule by which failed exchanges are tried again.
  public var retries: RetryPolicy
  /// The policy by which responses are stored and served from the cache.
  public var cache: CachePolicy
  /// What happens while equal calls, or calls with the same request type, are running.
  public var overlap: Overlap
  /// What responses must fulfil: status codes, content types, JSON shape, envelope, size.
  public var validation: ResponseValidation

  /// Makes a family. Settings that are not given are inherited from the client.
  public init(
    _ name: String, baseURL: String? = nil, cdnURL: String? = nil, headers: RequestHeaders = RequestHeaders(),
    arguments: Arguments = Arguments(), formats: Formats = .inherited, timeouts: Timeouts = .inherited,
    redirects: RedirectPolicy = .inherited, retries: RetryPolicy = .inherited, cache: CachePolicy = .inherited,
    overlap: Overlap = .inherited, validation: ResponseValidation = .inherited
  ) {
    self.name = name
    self.baseURL = baseURL
    self.cdnURL = cdnURL
    self.headers = headers
    self.arguments = arguments
    self.formats = formats
    self.timeouts = timeouts
    self.redirects = redirects
    self.retries = retries
    self.cache = cache
    self.overlap = overlap
    self.validation = validation
  }
}

extension RequestFamily: Masked {
  /// The name and the base URL; the values of the URL's query are masked.
  public var description: String { baseURL.map { "\(name): \(Redaction.url($0))" } ?? name }
  /// All properties; the values of the URLs' queries are masked. Of the arguments only the names are shown.
  package var shownParts: KeyValuePairs<String, Any> {
    [
      "name": name, "baseURL": baseURL.map(Redaction.url) as Any, "cdnURL": cdnURL.map(Redaction.url) as Any,
      "headers": headers, "arguments": arguments.names, "formats": formats, "timeouts": timeouts,
      "redirects": redirects, "retries": retries, "cache": cache, "overlap": overlap, "validation": validation,
    ]
  }
}

/// The family of a call in an object. The parts of a call then share the many settings of the family instead of copying
/// them.
typealias SharedFamily = Boxed<RequestFamily>
