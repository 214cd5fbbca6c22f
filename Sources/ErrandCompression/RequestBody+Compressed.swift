public import ErrandCore

/// How a body is compressed while it is sent.
public struct BodyCompression: Sendable, Hashable {
  let level: Int

  /// gzip (RFC 1952), which most servers that take compressed bodies understand.
  public static let gzip = gzip(level: 6)

  /// gzip with a level from 1, the fastest, to 9, the smallest; others are brought into that range.
  public static func gzip(level: Int) -> BodyCompression { BodyCompression(level: min(max(level, 1), 9)) }
}

extension RequestBody {
  /// The same body compressed while it is sent, with `Content-Encoding`. Ask the server's makers first: unlike answers,
  /// which are compressed for those who ask, a request offers it unasked, and many servers refuse it (415).
  ///
  /// The length is known beforehand for bodies in memory up to 16 KiB only; others are sent in chunks over HTTP/1.1, and
  /// their progress counts compressed bytes, without a total.
  public func compressed(_ compression: BodyCompression = .gzip) -> RequestBody {
    coded(BodyCoding(name: "gzip") { source in try GzipBodySource(source, level: compression.level) })
  }
}
