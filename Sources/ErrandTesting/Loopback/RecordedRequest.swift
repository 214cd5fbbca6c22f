/// One request as a ``LoopbackServer`` received it.
public struct RecordedRequest: Sendable, Equatable {
  /// The place of this request among all that the server has recorded, from 1.
  public internal(set) var number = 0
  /// The number of the connection that it came on, from 1 in the order of accepting.
  public internal(set) var connection = 0
  /// The place of this request on its connection, from 1: above 1 the connection was used again.
  public internal(set) var indexOnConnection = 0
  /// The method as it was sent, such as `GET`.
  public internal(set) var method: String
  /// The request target as it was sent, such as `/user?id=7`.
  public internal(set) var target: String
  /// The version as it was sent: `HTTP/1.1` or `HTTP/1.0`.
  public internal(set) var version: String
  /// The header fields in their order.
  public internal(set) var headers: LoopbackHeaders
  /// The bytes of request line and header fields, blank line included, exactly as they came.
  public internal(set) var head: [UInt8]
  /// The body without its framing, up to ``LoopbackOptions/recordedBodyLimit`` bytes.
  public internal(set) var body: [UInt8] = []
  /// The length of the whole body in bytes, also of what was not kept.
  public internal(set) var bodyLength = 0
  /// Whether the body has been read to its end; false while an answer is given first (``LoopbackReception``).
  public internal(set) var isComplete = false
  /// The trailer fields of a chunked body.
  public internal(set) var trailers = LoopbackHeaders()

  /// The target up to its query, still percent-encoded.
  public var path: String {
    String(target.prefix { $0 != "?" })
  }

  /// The target behind its question mark, still percent-encoded; nil without a question mark.
  public var query: String? {
    target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
  }

  /// The body read as UTF-8, with replacement characters where it is not.
  public var bodyText: String {
    String(decoding: body, as: UTF8.self)
  }
}
