public import Foundation

/// A raw answer: head, body, trailers and what was measured on the way.
public struct HTTPResponse: Sendable {
  /// What is seldom read stands apart, so that an answer is cheap to pass on.
  private final class Rest: Sendable {
    let trailers: HTTPFields
    let url: HTTPURL
    let metrics: ExchangeMetrics
    let origin: ResponseOrigin
    let hit: (any StoredHit)?
    let isUnowned: Bool

    init(
      _ trailers: HTTPFields, _ url: HTTPURL, _ metrics: ExchangeMetrics, _ origin: ResponseOrigin = .network,
      _ hit: (any StoredHit)? = nil, isUnowned: Bool = false
    ) {
      self.isUnowned = isUnowned
      self.trailers = trailers
      self.url = url
      self.metrics = metrics
      self.origin = origin
      self.hit = hit
    }
  }

  /// Status and header fields.
  public var head: ResponseHead
  /// The body in memory, its content coding undone; empty where it went into a sink.
  public var body: Data
  private var rest: Rest

  /// Makes an answer of its parts.
  public init(
    head: ResponseHead, body: Data = Data(), trailers: HTTPFields = HTTPFields(), url: HTTPURL,
    metrics: ExchangeMetrics = ExchangeMetrics()
  ) {
    self.head = head
    self.body = body
    rest = Rest(trailers, url, metrics)
  }

  /// The status code.
  public var status: Int { head.status }
  /// The header fields.
  public var fields: HTTPFields { head.fields }

  /// Fields that came behind the body (RFC 9110 section 6.5).
  public var trailers: HTTPFields {
    get { rest.trailers }
    set { rest = Rest(newValue, url, metrics, origin, hit, isUnowned: isUnowned) }
  }

  /// The URL that answered: the last one after redirects.
  public var url: HTTPURL {
    get { rest.url }
    set { rest = Rest(trailers, newValue, metrics, origin, hit, isUnowned: isUnowned) }
  }

  /// What was measured of the exchange.
  public var metrics: ExchangeMetrics {
    get { rest.metrics }
    set { rest = Rest(trailers, url, newValue, origin, hit, isUnowned: isUnowned) }
  }

  /// Where it came from.
  public var origin: ResponseOrigin { rest.origin }

  /// The entry it came from, if it came from the cache.
  package var hit: (any StoredHit)? { rest.hit }

  /// Whether it was given to a credential that nothing says whose it is, so that it is nobody's to keep.
  package var isUnowned: Bool { rest.isUnowned }

  /// The same answer as one that nobody may keep.
  func unowned() -> HTTPResponse {
    var response = self
    response.rest = Rest(trailers, url, metrics, origin, hit, isUnowned: true)
    return response
  }

  /// The same answer as one that came from somewhere else.
  package func coming(from origin: ResponseOrigin, hit: (any StoredHit)? = nil) -> HTTPResponse {
    var response = self
    response.rest = Rest(trailers, url, metrics, origin, hit, isUnowned: isUnowned)
    return response
  }
}

extension HTTPResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Status, length and URL, secrets masked.
  public var description: String {
    Redaction.visible("\(head.status) \(head.reason), \(body.count) bytes from \(url)")
  }
  /// Status, length and URL, secrets masked.
  public var debugDescription: String { description }
  /// What a dump shows: fields with secrets masked, and the length of the body.
  public var customMirror: Mirror {
    Mirror(self, children: ["response": description, "fields": fields.description], displayStyle: .struct)
  }
}
