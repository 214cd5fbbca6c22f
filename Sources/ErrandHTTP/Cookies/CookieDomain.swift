/// Decides which hosts a cookie belongs to (RFC 6265 section 5.1.3). Hosts and domains are ASCII in lower case.
enum CookieDomain {
  /// The maximum length of a host name in DNS. A longer host has no parent names.
  private static let longest = 255

  /// Whether a cookie of a domain may be sent to a host: the host is the domain itself or one of its subdomains.
  static func matches(_ domain: String, _ host: String) -> Bool {
    if host == domain { return true }
    return !domain.isEmpty && isName(host) && host.utf8.count <= longest && host.hasSuffix(".\(domain)")
  }

  /// Returns the host and its parent names. These are the domains whose cookies may be sent to the host.
  static func domains(matching host: String) -> [String] {
    guard isName(host), host.utf8.count <= longest else { return [host] }
    var names = [host]
    var rest = host[...]
    while let dot = rest.firstIndex(of: ".") {
      rest = rest[rest.index(after: dot)...]
      if !rest.isEmpty { names.append(String(rest)) }
    }
    return names
  }

  /// Whether a host is a name, which can have parent names and subdomains. The result is false for an IP address, and
  /// also for a name with a dot at its end.
  static func isName(_ host: String) -> Bool {
    guard host.utf8.first != 0x5B else { return false }
    let label = host.utf8.lastIndex(of: 0x2E).map { host.utf8[$0...].dropFirst() } ?? host.utf8[...]
    guard !label.isEmpty, !label.allSatisfy(ASCII.isDigit) else { return false }
    let isHex = label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy { ASCII.hexValue($0) != nil }
    return !isHex
  }

  /// The domain of a `Domain` attribute, in lower case and without a leading dot; nil if the attribute is invalid.
  /// Letters beyond ASCII are invalid, because servers must send such a name in its `xn--` form.
  static func domain(of attribute: String) -> String? {
    let text = attribute.hasPrefix(".") ? attribute.dropFirst() : attribute[...]
    let isDomain = text.utf8.allSatisfy {
      ASCII.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F || $0 == 0x3A || $0 == 0x5B || $0 == 0x5D
    }
    return isDomain ? text.lowercased() : nil
  }
}

/// The site from which a request comes (RFC 6265bis section 5.2).
package enum CookieSite: Sendable, Hashable {
  /// The request comes from the site to which it is sent.
  case same
  /// The request comes from another origin. `isSafe` is true if the method of the request is safe.
  case other(HTTPURL.Origin, isSafe: Bool)

  /// Whether a cookie may be sent to an origin. A `Strict` cookie is sent only within a site; a `Lax` cookie is also
  /// sent to another site with safe methods. A cookie without `SameSite` is treated as `Lax` (RFC 6265bis section
  /// 5.6.7).
  ///
  /// Two equal hosts belong to one site. With a list of public suffixes, different hosts belong to one site if they
  /// share a domain that is not a public suffix. Without a list, one host must be a subdomain of the other host.
  /// Origins with different ports belong to one site only if both ports are the defaults of their schemes.
  func admits(_ cookie: Cookie, to origin: HTTPURL.Origin, _ suffixes: (any PublicSuffixes)?) -> Bool {
    guard case .other(let opener, let isSafe) = self else { return true }
    switch cookie.sameSite {
    case .some(.none): return true
    case nil where isSafe, .lax where isSafe: return true
    case nil, .lax, .strict: return Self.areSameSite(opener, origin, suffixes)
    }
  }

  private static func areSameSite(
    _ opener: HTTPURL.Origin, _ origin: HTTPURL.Origin, _ suffixes: (any PublicSuffixes)?
  ) -> Bool {
    let haveOwnPorts = opener.port != opener.scheme.defaultPort || origin.port != origin.scheme.defaultPort
    if haveOwnPorts, opener.port != origin.port { return false }
    let (one, other) = (opener.host, origin.host)
    if one == other { return true }
    guard let suffixes else { return CookieDomain.matches(one, other) || CookieDomain.matches(other, one) }
    // The two hosts belong to one site if they share a domain that is not a public suffix.
    return CookieDomain.domains(matching: one).contains {
      CookieDomain.matches($0, other) && !suffixes.isPublicSuffix($0)
    }
  }
}

/// A list of public suffixes: names under which anyone can register a domain, such as `com`, `co.uk` or `github.io`.
///
/// A cookie for a public suffix would be sent to unrelated hosts. The product `ErrandPublicSuffix` contains the list
/// that browsers use. A test may use its own list:
///
/// ```swift
/// struct OneSuffix: PublicSuffixes {
///   func isPublicSuffix(_ domain: String) -> Bool { domain == "com" }
/// }
/// ```
public protocol PublicSuffixes: Sendable {
  /// Whether a domain is a public suffix. The domain is in lower case, in its ASCII form (`xn--…`), and without a dot
  /// at either end. Called on any thread; must not block.
  func isPublicSuffix(_ domain: String) -> Bool
}
