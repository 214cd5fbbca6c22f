import ErrandSupport
public import Foundation

/// One cookie (RFC 6265), as a ``CookieJar`` keeps it.
///
/// It can only be made so that it is safe to send. It is `Codable`, with its value in clear: keep what is written as a
/// secret. What is printed shows no value.
public struct Cookie: Sendable, Hashable {
  /// What a server wants of requests that another site causes (RFC 6265bis section 5.6.7).
  ///
  /// A call that an app begins at a server is that server's own; one that a redirect leads there from another site is
  /// not.
  public enum SameSite: String, Sendable, Hashable, Codable {
    /// Never with such requests.
    case strict
    /// With requests of safe methods alone.
    case lax
    /// With all of them.
    case none
  }

  /// Why there can be no such cookie.
  public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, as an English sentence without the value.
    public let description: String
  }

  /// The most bytes that name and value have together.
  public static let longest = 4_096

  /// The name.
  public let name: String
  /// The value: a secret. Where a server set bytes that are not UTF-8, each of them is a scalar from U+F780 to U+F7FF,
  /// so that the same bytes are sent back.
  public let value: String
  /// The host that it is for, in lower case and without a dot at its head.
  public let domain: String
  /// Whether it is for that host alone, and not for the hosts below it.
  public let isHostOnly: Bool
  /// The path at and below which it is sent.
  public let path: String
  /// Whether it is sent over https alone.
  public let isSecure: Bool
  /// Whether a script in a browser may not see it. Kept and told alone.
  public let isHTTPOnly: Bool
  /// What the server wants of requests that another site causes; nil where it does not say.
  public let sameSite: SameSite?
  /// Milliseconds since 1970.
  let expiry: Int64?

  /// When it runs out; nil where it lives as long as the session, which is as long as its jar.
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

  /// Makes a cookie of the app's own.
  ///
  /// - Parameters:
  ///   - name: The name, which a server looks for.
  ///   - value: The value.
  ///   - host: The host that it is for, such as `api.example.com`; an IPv6 address in brackets.
  ///   - path: The path at and below which it is sent.
  ///   - includesSubdomains: Whether it is for the hosts below, too. Whether strangers live there is for you to know.
  ///   - isSecure: Whether it is sent over https alone.
  ///   - isHTTPOnly: Whether a script in a browser may not see it.
  ///   - sameSite: What is said of requests that another site causes.
  ///   - expires: When it runs out; nil for the end of the session.
  /// - Throws: ``Invalid`` where it could not be sent, or does not keep what a prefix of its name promises.
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

  /// What the cookies of one place have in common: of two, the later one stands.
  func isSamePlace(as other: Cookie) -> Bool {
    name.hasSameBytes(as: other.name) && domain == other.domain && path.hasSameBytes(as: other.path)
      && isHostOnly == other.isHostOnly
  }

  /// Whether both are the same in all parts; texts are compared byte by byte.
  public static func == (left: Cookie, right: Cookie) -> Bool {
    left.isSamePlace(as: right) && left.value.hasSameBytes(as: right.value) && left.isSecure == right.isSecure
      && left.isHTTPOnly == right.isHTTPOnly && left.sameSite == right.sameSite && left.expiry == right.expiry
  }

  /// Hashes the place and the bytes of the value.
  public func hash(into hasher: inout Hasher) {
    for text in [name, value, domain, path] { hasher.combine(ByteText(text)) }
  }

  /// Whether it has run out, at a moment in milliseconds since 1970.
  func isOver(at now: Int64) -> Bool { expiry.map { $0 <= now } ?? false }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Name and place, the value masked.
  public var description: String {
    Redaction.visible("\(name)=\(Redaction.mask) at \(isHostOnly ? "" : "*.")\(domain)\(path)")
  }
  /// Name and place, the value masked.
  public var debugDescription: String { description }
  /// What a dump shows: name and place, the value masked.
  public var customMirror: Mirror { Mirror(self, children: ["cookie": description], displayStyle: .struct) }
}

/// A cookie as an object, what is not said left out; `expires` in milliseconds since 1970:
///
/// ```
/// {"name":"sid","value":"…","domain":"example.com","path":"/","hostOnly":true,"secure":true,"httpOnly":false}
/// ```
extension Cookie: Codable {
  private enum Key: String, CodingKey {
    case name, value, domain, path, hostOnly, secure, httpOnly, sameSite, expires
  }

  /// Writes the cookie, its value in clear.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    try members.encode(name, forKey: .name)
    try members.encode(value, forKey: .value)
    try members.encode(domain, forKey: .domain)
    try members.encode(path, forKey: .path)
    try members.encode(isHostOnly, forKey: .hostOnly)
    try members.encode(isSecure, forKey: .secure)
    try members.encode(isHTTPOnly, forKey: .httpOnly)
    try members.encodeIfPresent(sameSite, forKey: .sameSite)
    try members.encodeIfPresent(expiry, forKey: .expires)
  }

  /// Reads a cookie, and checks it like one of the app's own.
  /// - Throws: `DecodingError`, or ``Invalid`` for a cookie that is unsafe to send.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    self.init(
      unchecked: try members.decode(String.self, forKey: .name), try members.decode(String.self, forKey: .value),
      domain: try members.decode(String.self, forKey: .domain),
      isHostOnly: try members.decode(Bool.self, forKey: .hostOnly),
      path: try members.decode(String.self, forKey: .path), isSecure: try members.decode(Bool.self, forKey: .secure),
      isHTTPOnly: try members.decode(Bool.self, forKey: .httpOnly),
      sameSite: try members.decodeIfPresent(SameSite.self, forKey: .sameSite),
      expires: try members.decodeIfPresent(Int64.self, forKey: .expires))
    try check()
  }
}

extension Cookie {
  /// Whether a name promises that the cookie is of one host alone and was set over TLS. Servers may look at names
  /// without regard to case, so this does.
  static func isForHost(_ name: String) -> Bool { hasPrefix("__host-", name) }

  /// Whether a name promises that the cookie was set over TLS.
  static func isForTLS(_ name: String) -> Bool { hasPrefix("__secure-", name) }

  private static func hasPrefix(_ prefix: StaticString, _ name: String) -> Bool {
    prefix.withUTF8Buffer { ASCII.equalFolded(name.utf8.prefix($0.count), $0) }
  }

  /// Finds what would make the cookie unsafe to send.
  func check() throws(Invalid) {
    try checkPair()
    guard let host = try? HTTPURL("http://\(domain)").origin, host.host == domain, host.port == 80 else {
      throw Invalid(
        description: "The cookie's host \"\(Redaction.visible(domain))\" is none; write it like example.com.")
    }
    guard path.utf8.first == 0x2F, ASCII.all(path, { ASCII.isFieldValue($0) }) else {
      throw Invalid(description: "The cookie's path must begin with a slash and hold no control character.")
    }
    if Self.isForTLS(name), !isSecure {
      throw Invalid(description: "A cookie whose name begins with __Secure- must be secure.")
    }
    if Self.isForHost(name), !isSecure || !isHostOnly || path != "/" {
      throw Invalid(
        description:
          "A cookie whose name begins with __Host- must be secure, for one host alone, and of the path \"/\".")
    }
  }

  private func checkPair() throws(Invalid) {
    guard !name.isEmpty, Self.isTrimmed(name), ASCII.all(name, { Self.isOctet($0) && $0 != 0x3D }) else {
      throw Invalid(
        description:
          "A cookie's name is not empty and holds no control character, \"=\" or \";\" and no space around it.")
    }
    guard Self.isTrimmed(value), ASCII.all(value, { Self.isOctet($0) }) else {
      throw Invalid(
        description: "The value of the cookie \(Redaction.visible(name)) holds a control character, \";\" or a space "
          + "around it; write it in base64 or percent-encoded.")
    }
    guard name.utf8.count + value.utf8.count <= Self.longest else {
      throw Invalid(description: "Name and value of the cookie are longer than \(Self.longest) bytes.")
    }
  }

  private static func isOctet(_ byte: UInt8) -> Bool { ASCII.isFieldValue(byte) && byte != 0x3B }

  private static func isTrimmed(_ text: String) -> Bool {
    let isSpace: (UInt8?) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    return !isSpace(text.utf8.first) && !isSpace(text.utf8.last)
  }
}
