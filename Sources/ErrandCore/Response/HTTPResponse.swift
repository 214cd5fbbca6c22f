public import Foundation

/// A raw answer: head, body, trailers and what was measured on the way.
public struct HTTPResponse: Sendable {
  /// Status and header fields.
  public var head: ResponseHead
  /// The body in memory, its content coding undone; empty where it went into a sink.
  public var body: Data
  /// Fields that came behind the body (RFC 9110 section 6.5).
  public var trailers: HTTPFields
  /// The URL that answered: the last one after redirects.
  public var url: HTTPURL
  /// What was measured of the exchange.
  public var metrics: ExchangeMetrics

  /// Makes an answer of its parts.
  public init(
    head: ResponseHead, body: Data = Data(), trailers: HTTPFields = HTTPFields(), url: HTTPURL,
    metrics: ExchangeMetrics = ExchangeMetrics()
  ) {
    self.head = head
    self.body = body
    self.trailers = trailers
    self.url = url
    self.metrics = metrics
  }

  /// The status code.
  public var status: Int { head.status }
  /// The header fields.
  public var fields: HTTPFields { head.fields }
}

extension HTTPResponse: CustomStringConvertible {
  /// Status, length and URL, secrets masked.
  public var description: String { "\(head.status) \(head.reason), \(body.count) bytes from \(url)" }
}
