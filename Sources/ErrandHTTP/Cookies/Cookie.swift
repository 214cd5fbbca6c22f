import ErrandSupport
public import Foundation

/// One cookie (RFC 6265), as a ``CookieJar`` stores it.
///
/// Every cookie is safe to send, because its initializers check it. `Codable` writes the value in clear text, so store
/// the encoded cookie like a secret. Descriptions show no value.
public struct Cookie: Sendable, Hashable, ComparedByBytes {
  /// Whether a cookie is sent with requests that another site causes (RFC 6265bis section 5.6.7).
  ///
  /// A call that an app starts counts as same-site; a request that follows a redirect from another site does not.
  public enum SameSite: String, Sendable, Hashable, Codable {
    /// The cookie is not sent with requests that another site causes.
    case strict
    /// The cookie is sent with requests that another site causes only if their method is safe, such as GET.
    case lax
    /// The cookie is sent with all requests, even with requests that another site causes.
    case none
  }

  /// The error that is thrown if a cookie is invalid.
  public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, as an English sentence. It does not contain the cookie's value.
    public let description: String
  }

  /// The maximum number of bytes that the name and the value of a cookie may have together, as they are sent.
  package static let longest = 4_096

  /// Whether a name and a value together are within the limit ``longest``.
  static func isShort(_ name: String, _ value: String) -> Bool {
    FieldOctets.count(of: name) + FieldOctets.count(of: value) <= longest
  }

  /// The name of the cookie.
  public let name: String
  /// The value of the cookie: a secret. If a server set a value that is not valid UTF-8, each byte over 127 is stored
  /// as a scalar from U+F780 to U+F7FF, so that the received bytes are sent back unchanged.
  public let value: String
  /// The host that the cookie belongs to, in lower case and without a leading dot.
  public let domain: String
  /// Whether the cookie is sent only to the host in ``domain``, and not to the subdomains of that host.
  public let isHostOnly: Bool
  /// The cookie is sent with requests for this path and all paths below it.
  public let path: String
  /// Whether the cookie is sent over https only.
  public let isSecure: Bool
  /// Whether a browser hides the cookie from scripts. The jar stores this attribute, but does not use it.
  public let isHTTPOnly: Bool
  /// The `SameSite` attribute; nil if the server sent none. A cookie without the attribute is sent like a `Lax` cookie.
  public let sameSite: SameSite?
  /// The time at which the cookie expires, in milliseconds since 1970; nil for a session cookie.
  let expiry: Int64?

  /// The time at which the cookie expires; nil for a session cookie, which is kept as long as its jar exists.
  public var expires: Date? { expiry.map { Date(timeIntervalSince1970: Double($0) / 1_000) } }

  init(
    unchecked name: String, _ value: String, domain: String, isHostOnly: Bool, path: String, isSecure: Bool,
    isHTTPOnly: Bool, sameSite: SameSite?, expires: Int64?
  ) {
    self.name = name
    self.value = value
    self.domain = domain
    self.isHostOnly = isHostOnly
    self.path = path
    self.isSecure = isSecure
    self.isHTTPOnly = isHTTPOnly
    self.sameSite = sameSite
    expiry = expires
  }

  /// Makes a cookie that the app sets itself.
  ///
  /// - Parameters:
  ///   - name: The name of the cookie.
  ///   - value: The value of the cookie, a secret.
  ///   - host: The host to which the cookie is sent, such as `api.example.com`; an IPv6 address in brackets.
  ///   - path: The cookie is sent with requests for this path and all paths below it.
  ///   - includesSubdomains: Whether the cookie is also sent to subdomains of the host. Make sure that the subdomains
  ///     have the same owner as the host.
  ///   - isSecure: Whether the cookie is sent over https only.
  ///   - isHTTPOnly: Whether a browser hides the cookie from scripts.
  ///   - sameSite: Whether the cookie is sent with requests that another site causes.
  ///   - expires: The time at which the cookie expires; nil for a session cookie.
  /// - Throws: ``Invalid`` if the cookie cannot be sent, or violates the requirements of a name prefix such as
  ///   `__Host-`.
  public init(
    _ name: String, _ value: String, host: String, path: String = "/", includesSubdomains: Bool = false,
    isSecure: Bool = true, isHTTPOnly: Bool = false, sameSite: SameSite? = nil, expires: Date? = nil
  ) throws(Invalid) {
    let milliseconds = expires.map { ($0.timeIntervalSince1970 * 1_000).rounded(.down) }
    self.init(
      unchecked: name, value, domain: host.lowercased(), isHostOnly: !includesSubdomains, path: path,
      isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite,
      expires: milliseconds.map { Int64(exactly: $0) ?? ($0 < 0 ? .min : .max) })
    try check()
  }

  /// Whether two cookies have the same name, domain, path and ``isHostOnly``. Of two such cookies, a jar keeps only the
  /// later cookie.
  func hasSameIdentity(as other: Cookie) -> Bool {
    name.hasSameBytes(as: other.name) && domain == other.domain && path.hasSameBytes(as: other.path)
      && isHostOnly == other.isHostOnly
  }

  package var identity: some Hashable {
    Parts(
      [name, value, domain, path].map { ByteText($0) }, isHostOnly, isSecure, isHTTPOnly, sameSite, expiry)
  }

  /// Whether the cookie has expired at the time `now` in milliseconds since 1970.
  func isOver(at now: Int64) -> Bool { expiry.map { $0 <= now } ?? false }
}

extension Cookie: Masked {
  /// Name, domain and path, with the value masked.
  public var description: String {
    Redaction.visible("\(name)=\(Redaction.mask) at \(isHostOnly ? "" : "*.")\(domain)\(path)")
  }
}

/// An encoded cookie is a JSON object. Attributes that are not set are missing; `expires` is in milliseconds since
/// 1970:
///
/// ```
/// {"name":"sid","value":"…","domain":"example.com","path":"/","hostOnly":true,"secure":true,"httpOnly":false}
/// ```
extension Cookie: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, value, domain, path
    case isHostOnly = "hostOnly"
    case isSecure = "secure"
    case isHTTPOnly = "httpOnly"
    case sameSite
    case expiry = "expires"
  }

  /// Reads a cookie and checks it like a cookie that the app makes.
  /// - Throws: `DecodingError`, or ``Invalid`` for a cookie that is unsafe to send.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      unchecked: try members.decode(String.self, forKey: .name), try members.decode(String.self, forKey: .value),
      domain: try members.decode(String.self, forKey: .domain),
      isHostOnly: try members.decode(Bool.self, forKey: .isHostOnly),
      path: try members.decode(String.self, forKey: .path), isSecure: try members.decode(Bool.self, forKey: .isSecure),
      isHTTPOnly: try members.decode(Bool.self, forKey: .isHTTPOnly),
      sameSite: try members.decodeIfPresent(SameSite.self, forKey: .sameSite),
      expires: try members.decodeIfPresent(Int64.self, forKey: .expiry))
    try check()
  }
}

extension Cookie {
  /// Whether the name begins with `__Host-`: such a cookie must belong to a single host and must be secure. Case is
  /// ignored, because servers may compare names without regard to case.
  static func isForHost(_ name: String) -> Bool { hasPrefix("__host-", name) }

  /// Whether the name begins with `__Secure-`: such a cookie must be secure. Case is ignored.
  static func isForTLS(_ name: String) -> Bool { hasPrefix("__secure-", name) }

  private static func hasPrefix(_ prefix: StaticString, _ name: String) -> Bool {
    prefix.withUTF8Buffer { ASCII.equalFolded(name.utf8.prefix($0.count), $0) }
  }

  /// Throws if the cookie is unsafe to send.
  func check() throws(Invalid) {
    try checkPair()
    guard let host = try? HTTPURL("http://\(domain)").origin, host.host == domain, host.port == 80 else {
      let shown = Redaction.visible(domain)
      throw Invalid(description: "The host \"\(shown)\" of the cookie is not a host name; write it like example.com.")
    }
    guard path.utf8.first == 0x2F, ASCII.all(path, { ASCII.isFieldValue($0) }) else {
      throw Invalid(description: "The path of a cookie must begin with a slash and contain no control character.")
    }
    if Self.isForTLS(name), !isSecure {
      throw Invalid(description: "A cookie whose name begins with __Secure- must be secure; set `isSecure`.")
    }
    if Self.isForHost(name), !isSecure || !isHostOnly || path != "/" {
      throw Invalid(
        description:
          "A cookie whose name begins with __Host- must be secure, belong to a single host and have the path \"/\".")
    }
  }

  private func checkPair() throws(Invalid) {
    guard !name.isEmpty, Self.isTrimmed(name), ASCII.all(name, { Self.isOctet($0) && $0 != 0x3D }) else {
      throw Invalid(
        description:
          "The name of a cookie must not be empty, must not contain a control character, \"=\" or \";\", and must not "
          + "begin or end with a space.")
    }
    guard Self.isTrimmed(value), ASCII.all(value, { Self.isOctet($0) }) else {
      throw Invalid(
        description: "The value of the cookie \(Redaction.visible(name)) contains a control character or \";\", or "
          + "begins or ends with a space; write the value in base64 or percent-encoded.")
    }
    guard Self.isShort(name, value) else {
      throw Invalid(
        description:
          "The name and the value of the cookie have more than \(Self.longest) bytes together; shorten the value.")
    }
  }

  private static func isOctet(_ byte: UInt8) -> Bool { ASCII.isFieldValue(byte) && byte != 0x3B }

  private static func isTrimmed(_ text: String) -> Bool {
    !ASCII.isBlank(text.utf8.first) && !ASCII.isBlank(text.utf8.last)
  }
}
