import ErrandJSON
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
    var hit: (any StoredHit)?
    var isUnowned = false
    var isCut = false
    var file: DownloadedFile?
    var parsed: ParsedJSON?
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
    head: ResponseHead, body: Data = Data(), url: HTTPURL, from origin: ResponseOrigin, hit: (any StoredHit)? = nil
  ) {
    parts = Boxed(
      Parts(
        head: head, body: body, trailers: HTTPFields(), url: url, metrics: ExchangeMetrics(), origin: origin, hit: hit))
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
        $0.parsed = nil
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

  /// The file that the body went into; nil where it went elsewhere.
  public var file: DownloadedFile? { parts.value.file }

  /// The entry it came from, if it came from the cache.
  package var hit: (any StoredHit)? { parts.value.hit }

  /// Whether it is nobody's to keep: it was given to a credential that nothing says whose it is, or is not whole.
  package var isUnowned: Bool { parts.value.isUnowned || parts.value.isCut }

  /// Whether the body in memory is the beginning of a longer one.
  package var isCut: Bool { parts.value.isCut }

  /// The body as it was parsed when it was judged, for whom reads it next; nil where nobody parsed it.
  var parsed: ParsedJSON? { parts.value.parsed }

  /// The same answer with its parsed body, or without.
  func with(_ parsed: ParsedJSON?) -> HTTPResponse {
    parsed == nil && self.parsed == nil ? self : changed { $0.parsed = parsed }
  }

  /// The same answer as one that nobody may keep.
  func unowned() -> HTTPResponse { changed { $0.isUnowned = true } }

  /// The same answer, of whose body the beginning was kept.
  package func cut() -> HTTPResponse { changed { $0.isCut = true } }

  /// The same answer, its body in a file.
  package func written(to file: DownloadedFile) -> HTTPResponse { changed { $0.file = file } }

  /// The same answer as one that came from somewhere else.
  package func coming(from origin: ResponseOrigin, hit: (any StoredHit)? = nil) -> HTTPResponse {
    changed {
      $0.origin = origin
      $0.hit = hit
    }
  }

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
