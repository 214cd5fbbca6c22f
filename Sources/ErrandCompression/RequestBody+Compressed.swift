public import ErrandCore

/// The method by which a request body is compressed while it is sent.
public struct BodyCompression: Sendable, Hashable {
  let level: Int

  /// The format gzip (RFC 1952). Most servers that accept compressed bodies support it.
  public static let gzip = gzip(level: 6)

  /// The format gzip with a level from 1 (fastest) to 9 (smallest). Other levels are clamped to this range.
  public static func gzip(level: Int) -> BodyCompression { BodyCompression(level: min(max(level, 1), 9)) }
}

extension RequestBody {
  /// Returns a body that is compressed while it is sent, with the field `Content-Encoding`. Use it only if the server
  /// is known to accept compressed requests. A client cannot ask the server in advance, and many servers reject such
  /// requests with status 415.
  ///
  /// The compressed length is known in advance only for bodies in memory of up to 16 KiB. Other bodies are sent in
  /// chunks over HTTP/1.1, and their progress counts compressed bytes without a total.
  public func compressed(_ compression: BodyCompression = .gzip) -> RequestBody {
    coded(BodyCoding(name: "gzip") { source in try GzipBodySource(source, level: compression.level) })
  }
}
