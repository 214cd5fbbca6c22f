/// Where a call began that asks for cookies (RFC 6265bis section 5.2).
package enum CookieSite: Sendable, Hashable {
  /// At the site that it asks now.
  case same
  /// At another origin, and now asks with a method that is safe or not.
  case other(HTTPURL.Origin, isSafe: Bool)

  /// Whether a cookie may be sent to an origin: `Strict` ones within a site alone, `Lax` ones also by safe methods.
  ///
  /// One site are hosts of which one is a name below the other, or that have a registrable domain in common where a
  /// list of public suffixes is at hand. Servers on ports of their own are sites of their own.
  func admits(_ cookie: Cookie, to origin: HTTPURL.Origin, _ suffixes: (any PublicSuffixes)?) -> Bool {
    guard case .other(let opener, let isSafe) = self else { return true }
    switch cookie.sameSite {
    case nil, .some(.none): return true
    case .lax where isSafe: return true
    case .lax, .strict: return Self.areSameSite(opener, origin, suffixes)
    }
  }

  private static func areSameSite(
    _ opener: HTTPURL.Origin, _ origin: HTTPURL.Origin, _ suffixes: (any PublicSuffixes)?
  ) -> Bool {
    let haveOwnPorts = opener.port != opener.scheme.defaultPort || origin.port != origin.scheme.defaultPort
    if haveOwnPorts, opener.port != origin.port { return false }
    let (one, other) = (opener.host, origin.host)
    if one == other { return true }
    guard let suffixes else { return CookieDomain.holds(one, other) || CookieDomain.holds(other, one) }
    // The names that both are below, without public suffixes: one is enough.
    return CookieDomain.holding(one).contains { CookieDomain.holds($0, other) && !suffixes.isPublicSuffix($0) }
  }
}
