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
