extension SetCookie {
  /// 400 days in milliseconds: no cookie is kept longer, whatever the server says (RFC 6265bis section 5.5).
  static let longestLife: Int64 = 400 * 86_400_000

  /// The cookie that is to be kept, or to be removed where it has run out already. A function of values (RFC 6265
  /// section 5.3, prefixes by RFC 6265bis section 5.7).
  ///
  /// - Parameters:
  ///   - url: Where the answer came from.
  ///   - now: Milliseconds since 1970.
  ///   - suffixes: Who knows public suffixes; nil for nobody. Then no cookie is shared among hosts.
  func cookie(
    from url: HTTPURL, now: Int64, suffixes: (any PublicSuffixes)?
  ) throws(CookieRefusal) -> Cookie {
    let (domain, isHostOnly) = try place(at: url.host, suffixes)
    if isSecure, url.scheme != .https { throw .insecure }
    guard keepsPrefix else { throw .prefix }
    return Cookie(
      unchecked: name, value, domain: domain, isHostOnly: isHostOnly, path: path ?? CookiePath.standard(for: url),
      isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite, expires: expiry(now))
  }

  /// The domain, and whether the cookie is for that one host alone.
  private func place(
    at host: String, _ suffixes: (any PublicSuffixes)?
  ) throws(CookieRefusal) -> (domain: String, isHostOnly: Bool) {
    guard let attribute = domain else { return (host, true) }
    guard let domain = CookieDomain.domain(of: attribute), !domain.isEmpty else { throw .invalidDomain }
    guard CookieDomain.holds(domain, host) else { throw .foreignDomain }
    if domain == host {
      let isShared = CookieDomain.isName(host) && suffixes.map { !$0.isPublicSuffix(host) } ?? false
      return (host, !isShared)
    }
    guard let suffixes else { throw .unknownSuffix }
    guard !suffixes.isPublicSuffix(domain) else { throw .publicSuffix }
    return (domain, false)
  }

  /// Whether the cookie is what its name says, in any case of letters.
  private var keepsPrefix: Bool {
    if Cookie.isForHost(name) { return isSecure && domain == nil && path == "/" }
    return !Cookie.isForTLS(name) || isSecure
  }

  /// When it runs out; nil for the end of the session.
  private func expiry(_ now: Int64) -> Int64? {
    let (latest, overflow) = now.addingReportingOverflow(Self.longestLife)
    let limit = overflow ? Int64.max : latest
    guard let maxAge else { return expires.map { min($0, limit) } }
    if maxAge <= 0 { return .min }
    return overflow || maxAge > Self.longestLife / 1_000 ? limit : now + maxAge * 1_000
  }
}
