/// The name of a header field (RFC 9110 section 5.1). Names are compared without regard to ASCII case.
public struct HTTPFieldName: Sendable, Hashable, Codable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name as it was written.
  public let rawValue: String

  /// Makes a name. It is checked when a call is built: one that is not a token fails the call.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  /// Makes a name of a literal.
  public init(stringLiteral value: String) { rawValue = value }

  /// The name as it was written.
  public var description: String { rawValue }

  /// Compares without regard to ASCII case.
  public static func == (left: HTTPFieldName, right: HTTPFieldName) -> Bool {
    left.rawValue.utf8.count == right.rawValue.utf8.count
      && ASCII.equalFolded(left.rawValue.utf8, right.rawValue.utf8)
  }

  /// Hashes without regard to ASCII case.
  public func hash(into hasher: inout Hasher) {
    for byte in rawValue.utf8 { hasher.combine(ASCII.lowercased(byte)) }
  }
}

extension HTTPFieldName {
  /// One bit of 64, made of the length and both ends whatever their case: names with different bits are different.
  var mark: UInt64 {
    rawValue.utf8.withContiguousStorageIfAvailable { Self.mark($0) } ?? Self.mark(Array(rawValue.utf8))
  }

  static func mark<Bytes: RandomAccessCollection<UInt8>>(_ name: Bytes) -> UInt64 where Bytes.Index == Int {
    guard let first = name.first, let last = name.last else { return 1 }
    let ends = UInt64(ASCII.lowercased(first)) &* 7 &+ UInt64(ASCII.lowercased(last))
    return 1 << ((ends &+ UInt64(name.count) &* 5) & 63)
  }
}

extension HTTPFieldName {
  /// What the caller can read (RFC 9110 section 12.5.1).
  public static let accept: HTTPFieldName = "Accept"
  /// Which content codings the caller can undo.
  public static let acceptEncoding: HTTPFieldName = "Accept-Encoding"
  /// Which languages the caller prefers.
  public static let acceptLanguage: HTTPFieldName = "Accept-Language"
  /// The caller's credential.
  public static let authorization: HTTPFieldName = "Authorization"
  /// What caches may do.
  public static let cacheControl: HTTPFieldName = "Cache-Control"
  /// How the body is coded.
  public static let contentEncoding: HTTPFieldName = "Content-Encoding"
  /// How long the body is.
  public static let contentLength: HTTPFieldName = "Content-Length"
  /// What the body is.
  public static let contentType: HTTPFieldName = "Content-Type"
  /// The client's cookies.
  public static let cookie: HTTPFieldName = "Cookie"
  /// When the answer was made.
  public static let date: HTTPFieldName = "Date"
  /// The validator of an answer.
  public static let eTag: HTTPFieldName = "ETag"
  /// Where to go instead.
  public static let location: HTTPFieldName = "Location"
  /// The credential for a proxy.
  public static let proxyAuthorization: HTTPFieldName = "Proxy-Authorization"
  /// When to come again.
  public static let retryAfter: HTTPFieldName = "Retry-After"
  /// A cookie to keep.
  public static let setCookie: HTTPFieldName = "Set-Cookie"
  /// Which program asks.
  public static let userAgent: HTTPFieldName = "User-Agent"
}
