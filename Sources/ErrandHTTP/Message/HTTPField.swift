import ErrandSupport

/// One header field: a name and a value. Values are compared byte by byte.
public struct HTTPField: Sendable, Hashable {
  /// The name, compared without regard to case.
  public var name: HTTPFieldName {
    didSet { if Self.isBornSecret(name) { isSecret = true } }
  }
  /// The value as it is sent, as UTF-8 text.
  public var value: String
  /// Whether the value is a secret. A secret value is masked in every description, and the field is removed when a
  /// redirect leads to another origin.
  ///
  /// `Authorization`, `Proxy-Authorization`, `Cookie` and `Set-Cookie` are always secret, because they tell users apart:
  /// for these names, setting false has no effect.
  public var isSecret: Bool {
    didSet { if !isSecret, Self.isBornSecret(name) { isSecret = true } }
  }

  /// Makes a field. `Authorization`, `Proxy-Authorization`, `Cookie` and `Set-Cookie` are always secret.
  public init(_ name: HTTPFieldName, _ value: String, isSecret: Bool = false) {
    self.name = name
    self.value = value
    self.isSecret = isSecret || Self.isBornSecret(name)
  }

  private static func isBornSecret(_ name: HTTPFieldName) -> Bool {
    switch name.rawValue.utf8.count {
    case 13: name == .authorization
    case 19: name == .proxyAuthorization
    case 6: name == .cookie
    case 10: name == .setCookie
    default: false
    }
  }
}

extension HTTPField {
  /// Whether both fields have the same name, the same bytes in the value and the same ``isSecret``.
  public static func == (left: HTTPField, right: HTTPField) -> Bool {
    left.name == right.name && left.isSecret == right.isSecret && left.value.hasSameBytes(as: right.value)
  }

  /// Hashes the name, the bytes of the value and ``isSecret``.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(ByteText(value))
    hasher.combine(isSecret)
  }
}

extension HTTPField: Masked {
  /// The field as one line of text, in which control characters are escaped. A secret value is masked. The queries of
  /// fields that contain a URL, such as `Location` and `Link`, are also masked, because they often contain a secret,
  /// such as an authorization code.
  public var description: String {
    if isSecret { return Redaction.visible("\(name): \(Redaction.mask)") }
    return Redaction.visible("\(name): \(HTTPFieldName.ofURLs.contains(name) ? Redaction.url(value) : value)")
  }
}

/// The name of a header field (RFC 9110 section 5.1). Names are compared without regard to ASCII case.
public struct HTTPFieldName: Sendable, Hashable, Codable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name as it was written, with its upper-case and lower-case letters.
  public let rawValue: String

  /// Makes a name. If the name is not a valid token, each call that uses it fails when its request is built.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  /// Makes a name from a string literal.
  public init(stringLiteral value: String) { rawValue = value }

  /// The name as it was written, with its upper-case and lower-case letters.
  public var description: String { rawValue }

  /// Whether two names are equal without regard to ASCII case.
  public static func == (left: HTTPFieldName, right: HTTPFieldName) -> Bool {
    left.rawValue.utf8.count == right.rawValue.utf8.count
      && ASCII.equalFolded(left.rawValue.utf8, right.rawValue.utf8)
  }

  /// Hashes the name without regard to ASCII case.
  public func hash(into hasher: inout Hasher) {
    for byte in rawValue.utf8 { hasher.combine(ASCII.lowercased(byte)) }
  }
}

extension HTTPField {
  /// The bytes of the value as they are sent.
  package var sentBytes: [UInt8] { name.isSentBack ? FieldOctets.bytes(of: value) : Array(value.utf8) }
}

extension HTTPFieldName {
  /// True for fields that send back a cookie, an entity tag, or the realm and the nonce of a challenge. Such texts must
  /// be sent with exactly the bytes that the server sent; see ``FieldOctets``.
  package var isSentBack: Bool {
    switch rawValue.utf8.count {
    case 6: self == .cookie
    case 8: self == "If-Match" || self == "If-Range"
    case 13: self == "If-None-Match" || self == .authorization
    case 19: self == .proxyAuthorization
    default: false
    }
  }

  /// The header fields that contain a URL.
  package static let ofURLs: Set<HTTPFieldName> = [
    .location, "Content-Location", "Referer", "Refresh", "Link", "Origin",
  ]
}

extension HTTPFieldName {
  /// A small hash for fast lookups: a number with one of 64 bits set. The bit depends on the length, the first and the
  /// last letter, without regard to case. If the bits of two names differ, the names differ.
  var filterBit: UInt64 {
    rawValue.utf8.withContiguousStorageIfAvailable { Self.filterBit(of: $0) }
      ?? Self.filterBit(of: Array(rawValue.utf8))
  }

  static func filterBit<Bytes: RandomAccessCollection<UInt8>>(of name: Bytes) -> UInt64 where Bytes.Index == Int {
    guard let first = name.first, let last = name.last else { return 1 }
    let ends = UInt64(ASCII.lowercased(first)) &* 7 &+ UInt64(ASCII.lowercased(last))
    return 1 << ((ends &+ UInt64(name.count) &* 5) & 63)
  }
}

extension HTTPFieldName {
  /// The media types that the client accepts (RFC 9110 section 12.5.1).
  public static let accept: HTTPFieldName = "Accept"
  package static let acceptEncoding: HTTPFieldName = "Accept-Encoding"
  /// The client's credential.
  public static let authorization: HTTPFieldName = "Authorization"
  /// The directives for caches.
  public static let cacheControl: HTTPFieldName = "Cache-Control"
  /// The content codings of the body.
  public static let contentEncoding: HTTPFieldName = "Content-Encoding"
  /// The length of the body in bytes.
  public static let contentLength: HTTPFieldName = "Content-Length"
  /// The media type of the body.
  public static let contentType: HTTPFieldName = "Content-Type"
  package static let cookie: HTTPFieldName = "Cookie"
  /// The time at which the response was generated.
  public static let date: HTTPFieldName = "Date"
  /// The entity tag of a representation.
  public static let eTag: HTTPFieldName = "ETag"
  /// The target of a redirect.
  public static let location: HTTPFieldName = "Location"
  package static let proxyAuthorization: HTTPFieldName = "Proxy-Authorization"
  /// The time after which the client may send the request again.
  public static let retryAfter: HTTPFieldName = "Retry-After"
  package static let setCookie: HTTPFieldName = "Set-Cookie"
  /// The name of the client program.
  public static let userAgent: HTTPFieldName = "User-Agent"
}
