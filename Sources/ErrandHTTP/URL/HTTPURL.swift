import ErrandSupport

/// An absolute `http` or `https` URL that is ready to be sent: all of its bytes are legal in a request.
///
/// The given text is kept, including dot segments and repeated slashes. Scheme and host are compared in lower case.
/// Source: RFC 3986 and RFC 9110 section 4.2.
public struct HTTPURL: Sendable, Hashable {
  /// The schemes that can be sent.
  public enum Scheme: String, Sendable, Hashable {
    /// HTTP without encryption.
    case http
    /// HTTP over TLS.
    case https

    /// The port of URLs that contain no port: 80 for http, 443 for https.
    package var defaultPort: Int { self == .http ? 80 : 443 }
  }

  /// The scheme, the host and the port of a URL (RFC 9110 section 4.3.1). A redirect to another origin removes secret
  /// fields from the request.
  public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// The scheme, `http` or `https`.
    public let scheme: Scheme
    /// The host in lower case; an IPv6 address in brackets.
    public let host: String
    /// The port; the default port of the scheme if the URL contains none.
    public let port: Int

    /// The origin as it is written at the start of a URL.
    public var description: String {
      port == scheme.defaultPort ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }

    /// The host in the form in which settings contain it: without a trailing dot.
    package var hostWithoutDot: String { host.hasSuffix(".") ? String(host.dropLast()) : host }

    /// The host in the form in which certificates contain it: an IPv6 address without brackets, a name without a
    /// trailing dot.
    package var certificateName: String {
      host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : hostWithoutDot
    }
  }

  /// The URL as it is sent, without a fragment.
  public let string: String
  /// The scheme, host and port of the URL.
  public let origin: Origin
  /// The start of the path in ``string``, as an offset in UTF-8 bytes.
  package let pathStart: Int
  /// The offset of the question mark in ``string``, in UTF-8 bytes; the length of ``string`` if there is no query.
  package let queryStart: Int

  package init(unchecked string: String, origin: Origin, pathStart: Int, queryStart: Int) {
    self.string = string
    self.origin = origin
    self.pathStart = pathStart
    self.queryStart = queryStart
  }

  /// The scheme, `http` or `https`.
  public var scheme: Scheme { origin.scheme }
  /// The host in lower case; an IPv6 address in brackets.
  public var host: String { origin.host }
  /// The port; the default port of the scheme if the URL contains none.
  public var port: Int { origin.port }
  /// The path as it is sent. It is empty if the URL contains no path.
  public var path: String { slice(pathStart, queryStart) }
  /// The query as it is sent, without the question mark; nil if the URL has no query.
  public var query: String? {
    queryStart < string.utf8.count ? slice(queryStart + 1, string.utf8.count) : nil
  }

  /// The path and the query as the request target of a request to the server (RFC 9112 section 3.2.1).
  package var target: String {
    let target = slice(pathStart, string.utf8.count)
    return target.hasPrefix("/") ? target : "/" + target
  }

  /// The whole URL as the request target of a request to a proxy (RFC 9112 section 3.2.2).
  package var absoluteTarget: String { origin.description + target }

  private func slice(_ start: Int, _ end: Int) -> String {
    let utf8 = string.utf8
    return String(decoding: utf8.dropFirst(start).prefix(max(end - start, 0)), as: UTF8.self)
  }

  /// Whether the texts of two URLs are equal, including path and query.
  public static func == (left: HTTPURL, right: HTTPURL) -> Bool { left.string == right.string }
  /// Hashes the text of the URL.
  public func hash(into hasher: inout Hasher) { hasher.combine(string) }
}

extension HTTPURL: Masked {
  /// The URL with the values of its query masked.
  public var description: String { Redaction.url(string) }
}

// The functions below process URLs as bytes. In a `String`, a slash followed by a combining accent is another
// `Character` than a slash, so a search for a slash would miss it.
extension HTTPURL {
  /// Resolves a relative or absolute reference against this URL, such as the `Location` field of a response from this
  /// URL.
  ///
  /// User names and passwords in the reference are removed. Source: RFC 3986 section 5.2.
  /// - Throws: ``Invalid`` if the result is not an `http` or `https` URL.
  public func resolving(_ reference: String) throws(Invalid) -> HTTPURL {
    let text = reference.utf8.prefix { $0 != 0x23 }
    let reference = String(decoding: text, as: UTF8.self)
    if let colon = text.firstIndex(of: 0x3A), Self.isScheme(text[..<colon]) {
      return try HTTPURL(Self.withoutUserInfo(reference)).removingDots()
    }
    if text.starts(with: "//".utf8) {
      return try HTTPURL(Self.withoutUserInfo("\(scheme):\(reference)")).removingDots()
    }
    if reference.isEmpty { return self }
    if text.first == 0x3F { return try HTTPURL("\(prefix(to: queryStart))\(reference)") }
    let refPath = reference.utf8.prefix { $0 != 0x3F }
    let query = reference.utf8[refPath.endIndex...]
    let path = String(decoding: refPath, as: UTF8.self)
    let merged = refPath.first == 0x2F ? path : Self.directory(of: self.path) + path
    return try HTTPURL("\(prefix(to: pathStart))\(Self.removingDots(merged))\(String(decoding: query, as: UTF8.self))")
  }

  private func prefix(to end: Int) -> String { String(decoding: string.utf8.prefix(end), as: UTF8.self) }

  /// Whether a text is the scheme of a URL (RFC 3986 section 3.1).
  package static func isScheme(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first, ASCII.lowercased(first) &- 0x61 < 26 else { return false }
    return bytes.allSatisfy { ASCII.isAlphanumeric($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "/" }
    return String(decoding: path.utf8[...slash], as: UTF8.self)
  }

  private static func withoutUserInfo(_ url: String) -> String {
    let bytes = Array(url.utf8)
    guard let colon = bytes.firstIndex(of: 0x3A), bytes[(colon + 1)...].starts(with: "//".utf8) else { return url }
    let start = colon + 3
    let authority = bytes[start...].prefix { $0 != 0x2F && $0 != 0x3F }
    guard let at = authority.lastIndex(of: 0x40) else { return url }
    return String(decoding: bytes[..<start] + bytes[(at + 1)...], as: UTF8.self)
  }

  /// The URL without the segments `.` and `..` in its path.
  private func removingDots() throws(Invalid) -> HTTPURL {
    let path = path
    guard path.contains(bytesOf: "/.") else { return self }
    let query = String(decoding: string.utf8.dropFirst(queryStart), as: UTF8.self)
    return try HTTPURL("\(prefix(to: pathStart))\(Self.removingDots(path))\(query)")
  }

  /// Removes the segments `.` and `..` from a path. Source: RFC 3986 section 5.2.4.
  private static func removingDots(_ path: String) -> String {
    var kept: [String] = []
    let segments = path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false).dropFirst()
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      if segment.elementsEqual(".".utf8) {
        if isLast { kept.append("") }
      } else if segment.elementsEqual("..".utf8) {
        _ = kept.popLast()
        if isLast { kept.append("") }
      } else {
        kept.append(String(decoding: segment, as: UTF8.self))
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}
