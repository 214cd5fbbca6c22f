/// The site from which a request comes (RFC 6265bis section 5.2).
package enum CookieSite: Sendable, Hashable {
  /// The request comes from the site to which it is sent.
  case same
  /// The request comes from another origin. `isSafe` is true if the method of the request is safe.
  case other(HTTPURL.Origin, isSafe: Bool)

  /// Whether a cookie may be sent to an origin. A `Strict` cookie is sent only within a site; a `Lax` cookie is also
  /// sent to another site with safe methods.
  ///
  /// Two equal hosts belong to one site. With a list of public suffixes, different hosts belong to one site if they
  /// share a domain that is not a public suffix. Without a list, one host must be a subdomain of the other host.
  /// Origins with different ports belong to one site only if both ports are the defaults of their schemes.
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
    guard let suffixes else { return CookieDomain.matches(one, other) || CookieDomain.matches(other, one) }
    // The two hosts belong to one site if they share a domain that is not a public suffix.
    return CookieDomain.domains(matching: one).contains {
      CookieDomain.matches($0, other) && !suffixes.isPublicSuffix($0)
    }
  }
}
