import ErrandSupport
public import Foundation

/// A raw answer: head, body, trailers and what was measured on the way.
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

  /// Held once, so that an answer is cheap to pass on.
  private var parts: Boxed<Parts>

  /// Makes an answer of its parts.
  public init(
    head: ResponseHead, body: Data = Data(), trailers: HTTPFields = HTTPFields(), url: HTTPURL,
    metrics: ExchangeMetrics = ExchangeMetrics()
  ) {
    parts = Boxed(Parts(head: head, body: body, trailers: trailers, url: url, metrics: metrics))
  }

  /// Makes an answer that was stored, or made here.
  package init(
    head: ResponseHead, body: Data = Data(), url: HTTPURL, from origin: ResponseOrigin,
    companion: (any ResponseCompanion)? = nil
  ) {
    parts = Boxed(
      Parts(
        head: head, body: body, trailers: HTTPFields(), url: url, metrics: ExchangeMetrics(), origin: origin,
        companion: companion))
  }

  /// Status and header fields.
  public var head: ResponseHead {
    get { parts.value.head }
    set { parts.change { $0.head = newValue } }
  }

  /// The body in memory, its content coding undone; empty where it went into a sink.
  public var body: Data {
    get { parts.value.body }
    set {
      parts.change {
        $0.body = newValue
        $0.companion = $0.companion?.forAnotherBody()
      }
    }
  }

  /// The status code.
  public var status: Int { parts.value.head.status }
  /// The header fields.
  public var fields: HTTPFields { parts.value.head.fields }

  /// Fields that came behind the body (RFC 9110 section 6.5).
  public var trailers: HTTPFields {
    get { parts.value.trailers }
    set { parts.change { $0.trailers = newValue } }
  }

  /// The URL that answered: the last one after redirects.
  public var url: HTTPURL {
    get { parts.value.url }
    set { parts.change { $0.url = newValue } }
  }

  /// What was measured of the exchange.
  public var metrics: ExchangeMetrics {
    get { parts.value.metrics }
    set { parts.change { $0.metrics = newValue } }
  }

  /// Where it came from.
  public var origin: ResponseOrigin { parts.value.origin }

  /// Whether the body in memory is the beginning of a longer one.
  package var isCut: Bool { parts.value.isCut }

  /// An object that a layer above attached to the response.
  package var companion: (any ResponseCompanion)? {
    get { parts.value.companion }
    set { parts.change { $0.companion = newValue } }
  }

  /// The same answer, of whose body the beginning was kept.
  package func cut() -> HTTPResponse { changed { $0.isCut = true } }

  /// The same answer as one that came from somewhere else.
  package func coming(from origin: ResponseOrigin) -> HTTPResponse { changed { $0.origin = origin } }

  private func changed(_ body: (inout Parts) -> Void) -> HTTPResponse {
    var response = self
    response.parts.change(body)
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

/// An object that a layer above attaches to a response. That layer defines what is in it.
package protocol ResponseCompanion: AnyObject, Sendable {
  /// The object for the same response after its body was replaced.
  func forAnotherBody() -> any ResponseCompanion
}

/// Where an answer came from.
public enum ResponseOrigin: String, Sendable, Hashable, CaseIterable {
  /// From the server.
  case network
  /// From the cache, fresh: nobody was asked.
  case cacheFresh = "cache-fresh"
  /// From the cache, though it had expired or its age did not count.
  case cacheStale = "cache-stale"
  /// From the cache, after the server said that it still holds (304).
  case revalidated
  /// Made here, and nobody was asked: by an interceptor of the app, or where the cache alone may answer and cannot.
  case local

  /// Whether the body came from the cache.
  public var isFromCache: Bool { self == .cacheFresh || self == .cacheStale || self == .revalidated }
}
