import ErrandSupport
public import Foundation

/// One request as a ``LoopbackServer`` received it.
public struct RecordedRequest: Sendable, Equatable {
  /// The number of this request among all recorded requests, counted from 1.
  public internal(set) var number = 0
  /// The number of the connection on which the request arrived, counted from 1 in the order in which the connections
  /// were accepted.
  public internal(set) var connection = 0
  /// The number of this request on its connection, counted from 1. A number above 1 means that the connection was
  /// reused.
  public internal(set) var indexOnConnection = 0
  /// The method as sent, such as `GET`.
  public internal(set) var method: String
  /// The request target as sent, such as `/user?id=7`.
  public internal(set) var target: String
  /// The HTTP version as sent: `HTTP/1.1` or `HTTP/1.0`.
  public internal(set) var version: String
  /// The header fields in order.
  public internal(set) var headers: LoopbackHeaders
  /// The exact bytes of the request line and the header fields, including the blank line.
  public internal(set) var head: [UInt8]
  /// The body without its framing, up to ``LoopbackOptions/recordedBodyLimit`` bytes.
  public internal(set) var body: [UInt8] = []
  /// The length of the whole body in bytes, including bytes that were not kept.
  public internal(set) var bodyLength = 0
  /// Whether the whole body has been read. If the server reads the body after the response, the value is false while
  /// the response is sent; see ``LoopbackReception``.
  public internal(set) var isComplete = false
  /// The trailer fields of a chunked body.
  public internal(set) var trailers = LoopbackHeaders()

  /// The part of the target before the question mark, percent-encoded.
  public var path: String {
    target.cut(at: "?").map { String($0.before) } ?? target
  }

  /// The part of the target after the question mark, percent-encoded; nil if the target has no question mark.
  public var query: String? {
    target.cut(at: "?").map { String($0.behind) }
  }

  /// The bytes of ``body`` as `Data`, for example for `JSONDecoder`.
  public var bodyData: Data { Data(body) }

  /// The body decoded as UTF-8, with replacement characters for invalid bytes.
  public var bodyText: String {
    String(decoding: body, as: UTF8.self)
  }
}
