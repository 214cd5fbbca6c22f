import ErrandJSON
public import Foundation

/// A raw answer: head, body, trailers and what was measured on the way.
public struct HTTPResponse: Sendable {
  /// What is seldom read.
  private struct Rest: Sendable {
    var trailers: HTTPFields
    var url: HTTPURL
    var metrics: ExchangeMetrics
    var origin = ResponseOrigin.network
    var hit: (any StoredHit)?
    var isUnowned = false
    var file: DownloadedFile?
    var parsed: ParsedJSON?
  }

  /// It stands apart, so that an answer is cheap to pass on.
  private final class Box: Sendable {
    let rest: Rest
    init(_ rest: Rest) { self.rest = rest }
  }

  /// Status and header fields.
  public var head: ResponseHead
  /// The body in memory, its content coding undone; empty where it went into a sink.
  public var body: Data { didSet { if parsed != nil { change { $0.parsed = nil } } } }
  private var box: Box

  /// Makes an answer of its parts.
  public init(
    head: ResponseHead, body: Data = Data(), trailers: HTTPFields = HTTPFields(), url: HTTPURL,
    metrics: ExchangeMetrics = ExchangeMetrics()
  ) {
    self.head = head
    self.body = body
    box = Box(Rest(trailers: trailers, url: url, metrics: metrics))
  }

  /// The status code.
  public var status: Int { head.status }
  /// The header fields.
  public var fields: HTTPFields { head.fields }

  /// Fields that came behind the body (RFC 9110 section 6.5).
  public var trailers: HTTPFields {
    get { box.rest.trailers }
    set { change { $0.trailers = newValue } }
  }

  /// The URL that answered: the last one after redirects.
  public var url: HTTPURL {
    get { box.rest.url }
    set { change { $0.url = newValue } }
  }

  /// What was measured of the exchange.
  public var metrics: ExchangeMetrics {
    get { box.rest.metrics }
    set { change { $0.metrics = newValue } }
  }

  /// Where it came from.
  public var origin: ResponseOrigin { box.rest.origin }

  /// The file that the body went into; nil where it went elsewhere.
  public var file: DownloadedFile? { box.rest.file }

  /// The entry it came from, if it came from the cache.
  package var hit: (any StoredHit)? { box.rest.hit }

  /// Whether it was given to a credential that nothing says whose it is, so that it is nobody's to keep.
  package var isUnowned: Bool { box.rest.isUnowned }

  /// The body as it was parsed when it was judged, for whom reads it next; nil where nobody parsed it.
  var parsed: ParsedJSON? { box.rest.parsed }

  /// The same answer with its parsed body, or without.
  func with(_ parsed: ParsedJSON?) -> HTTPResponse {
    parsed == nil && self.parsed == nil ? self : changed { $0.parsed = parsed }
  }

  /// The same answer as one that nobody may keep.
  func unowned() -> HTTPResponse { changed { $0.isUnowned = true } }

  /// The same answer, its body in a file.
  package func written(to file: DownloadedFile) -> HTTPResponse { changed { $0.file = file } }

  /// The same answer as one that came from somewhere else.
  package func coming(from origin: ResponseOrigin, hit: (any StoredHit)? = nil) -> HTTPResponse {
    changed {
      $0.origin = origin
      $0.hit = hit
    }
  }

  private func changed(_ body: (inout Rest) -> Void) -> HTTPResponse {
    var response = self
    response.change(body)
    return response
  }

  private mutating func change(_ body: (inout Rest) -> Void) {
    var rest = box.rest
    body(&rest)
    box = Box(rest)
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
