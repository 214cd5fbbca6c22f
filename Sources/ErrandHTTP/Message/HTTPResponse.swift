import ErrandSupport
public import Foundation

/// A response before its body is decoded into a value: response headers, body, trailers and measurements.
public struct HTTPResponse: Sendable {
  private struct Parts: Sendable {
    var head: ResponseHead
    var body: Data
    var trailers: HTTPFields
    var url: HTTPURL
    var metrics: ExchangeMetrics
    var origin = ResponseOrigin.network
    var isCut = false
    var companion: (any ResponseCompanion)?
  }

  /// The properties are stored in one object, which all copies of a response share until a copy is changed.
  private var parts: Boxed<Parts>

  /// Makes a response whose ``origin`` is the network.
  public init(
    head: ResponseHead, body: Data = Data(), trailers: HTTPFields = HTTPFields(), url: HTTPURL,
    metrics: ExchangeMetrics = ExchangeMetrics()
  ) {
    parts = Boxed(Parts(head: head, body: body, trailers: trailers, url: url, metrics: metrics))
  }

  /// Makes a response that comes from the cache or from this process, not from a server.
  package init(
    head: ResponseHead, body: Data = Data(), url: HTTPURL, from origin: ResponseOrigin,
    companion: (any ResponseCompanion)? = nil
  ) {
    parts = Boxed(
      Parts(
        head: head, body: body, trailers: HTTPFields(), url: url, metrics: ExchangeMetrics(), origin: origin,
        companion: companion))
  }

  /// The status line and the header fields.
  public var head: ResponseHead {
    get { parts.value.head }
    set { parts.change { $0.head = newValue } }
  }

  /// The body in memory after content decoding; empty if a sink received the body.
  public var body: Data {
    get { parts.value.body }
    set {
      parts.change {
        $0.body = newValue
        $0.companion = $0.companion?.forAnotherBody()
      }
    }
  }

  /// The status code, such as 200.
  public var status: Int { parts.value.head.status }
  /// The header fields of ``head``.
  public var fields: HTTPFields { parts.value.head.fields }

  /// The trailer fields after the body (RFC 9110 section 6.5).
  public var trailers: HTTPFields {
    get { parts.value.trailers }
    set { parts.change { $0.trailers = newValue } }
  }

  /// The URL to which the response belongs. If redirects were followed, it is the URL of the last request.
  public var url: HTTPURL {
    get { parts.value.url }
    set { parts.change { $0.url = newValue } }
  }

  /// The URL in the field `Location`, resolved against ``url`` (RFC 9110 section 10.2.2): the new resource of a
  /// response with status 201, or the target of a redirect that was not followed. A request to this URL sends the bytes
  /// that the server sent. Nil if the field is missing, occurs several times with different values, or contains no http
  /// or https URL.
  ///
  /// ```swift
  /// let created = try await client.response(OneOff(.post, "/users", body: .json(user)))
  /// if let location = created.raw.location { print(try await client.get(RequestPath(location.string), as: User.self)) }
  /// ```
  public var location: HTTPURL? {
    fields.single(.location).flatMap { try? url.resolving($0) }
  }

  /// The measurements of the exchange with the server.
  public var metrics: ExchangeMetrics {
    get { parts.value.metrics }
    set { parts.change { $0.metrics = newValue } }
  }

  /// Whether the response comes from the network, the cache or this process.
  public var origin: ResponseOrigin { parts.value.origin }

  /// Whether ``body`` is only the beginning of a longer body.
  package var isCut: Bool { parts.value.isCut }

  /// An object that the pipeline attached to the response. It contains data that only the pipeline uses.
  package var companion: (any ResponseCompanion)? {
    get { parts.value.companion }
    set { parts.change { $0.companion = newValue } }
  }

  /// Returns a copy that is marked as cut: the body of the copy is only the beginning of a longer body.
  package func cut() -> HTTPResponse { changed { $0.isCut = true } }

  /// Returns a copy of the response with another ``origin``.
  package func coming(from origin: ResponseOrigin) -> HTTPResponse { changed { $0.origin = origin } }

  private func changed(_ body: (inout Parts) -> Void) -> HTTPResponse {
    var response = self
    response.parts.change(body)
    return response
  }
}

extension HTTPResponse: Masked {
  /// The status, the URL and the number of bytes in ``body``, unless it is empty. An empty ``body`` does not show that
  /// the server sent no bytes, because a sink may have received them. Secrets in the URL are masked.
  public var description: String {
    let reason = head.reason.isEmpty ? "" : " \(head.reason)"
    let count = body.isEmpty ? "" : ", \(body.count) bytes in memory"
    return Redaction.visible("\(head.status)\(reason) from \(url)\(count)")
  }
  /// The fields with secrets masked, and the description.
  package var shownParts: KeyValuePairs<String, Any> { ["response": description, "fields": fields.description] }
}

/// An object that the pipeline attaches to a response. It contains data that only the pipeline uses.
package protocol ResponseCompanion: AnyObject, Sendable {
  /// Called when the response is copied with a different body. Returns the object to attach to the copy.
  func forAnotherBody() -> any ResponseCompanion
}

/// The source of a response.
public enum ResponseOrigin: String, Sendable, Hashable, CaseIterable {
  /// The response comes from the server.
  case network
  /// The response comes from the cache and was fresh; no request was sent.
  case cacheFresh = "cache-fresh"
  /// The response comes from the cache. The stored response had expired, or it was served because the server failed.
  case cacheStale = "cache-stale"
  /// The response comes from the cache, after the server confirmed it with status 304.
  case revalidated
  /// The response comes from this process, and no request was sent. An interceptor of the app made it, the call may use
  /// only the cache and the cache contains no response, or the file of a download already existed.
  case local

  /// Whether the body of the response comes from the cache.
  public var isFromCache: Bool { self == .cacheFresh || self == .cacheStale || self == .revalidated }
}

extension HTTPResponse {
  /// Not available. The status code is ``status``.
  @available(*, unavailable, renamed: "status")
  public var statusCode: Int { status }
  /// Not available. The header fields are ``fields``.
  @available(*, unavailable, renamed: "fields")
  public var headers: HTTPFields { fields }
}

/// The head of a response: the status line and the header fields (RFC 9112 section 4).
public struct ResponseHead: Sendable, Hashable {
  /// The HTTP version of a response.
  public enum Version: String, Sendable, Hashable {
    /// The version HTTP/1.0 (RFC 1945).
    case http1_0 = "HTTP/1.0"
    /// The version HTTP/1.1 (RFC 9112).
    case http1_1 = "HTTP/1.1"
    /// The version HTTP/2 (RFC 9113).
    case http2 = "HTTP/2"
    /// The version HTTP/3 (RFC 9114).
    case http3 = "HTTP/3"
  }

  /// The status code: three digits, 100 to 999. Codes above 599, which are outside the range of RFC 9110 section 15,
  /// are kept unchanged.
  public var status: Int
  /// The reason phrase that the server sent. It is often empty.
  public var reason: String
  /// The HTTP version of the response.
  public var version: Version
  /// The header fields of the response.
  public var fields: HTTPFields

  /// Makes a head. Transports and tests need this initializer; apps receive heads with their responses.
  public init(status: Int, reason: String = "", version: Version = .http1_1, fields: HTTPFields = HTTPFields()) {
    self.status = status
    self.reason = reason
    self.version = version
    self.fields = fields
  }

  /// Whether the status means success: 200 to 299 (RFC 9110 section 15.3).
  package var isSuccess: Bool { (200...299).contains(status) }
}
