/// What the requests of a call reveal about the account of the call. The request as ``Freezing`` fixed it decides this.
extension CallContext {
  /// Whether the credential of the call is sent to a server.
  ///
  /// - A credential that the request itself declares is sent only to the origin at which the call began.
  /// - The credential of the client's provider is sent only to origins that the provider allows. In addition the call
  ///   must have begun at such an origin, or at a server that the client or the family names. So a call that began at a
  ///   foreign server gets no credential by a redirect.
  package func showsCredential(to origin: HTTPURL.Origin) -> Bool {
    switch plan.credential {
    case .none: return false
    case .own: return opener == nil || isMeant(origin)
    case .inherited:
      guard isAtHome(origin) else { return false }
      guard let opener, opener != origin else { return true }
      return isAtHome(opener) || plan.servers.contains(plan.home(of: opener))
    }
  }

  /// Whether the client's provider allows its credential to be sent to a server.
  package func isAtHome(_ origin: HTTPURL.Origin) -> Bool {
    guard let provider = plan.provider, let base = plan.base else { return false }
    return provider.belongs(to: plan.home(of: origin), base: base)
  }

  /// The account that a stored response to a request belongs to. Nil if the request reveals nothing about the account;
  /// then every account gets the same response.
  ///
  /// The result is nil only for a safe method without a body at a server to which the provider's credential is not
  /// sent, such as a CDN. Even then the response belongs to the account in these cases:
  ///
  /// - The request has a credential, a secret field or cookies.
  /// - The request has a field that may differ between accounts and is not part of the cache key.
  /// - Interceptors of the app run around the exchange.
  ///
  /// - Parameter cookies: The cookies of the cookie jar for the request.
  package func owner(of request: HTTPRequest, cookies: String?) -> String? {
    guard let account else { return nil }
    guard request.method.isSafe, request.body == nil, plan.base != nil, !isAtHome(request.url.origin) else {
      return account
    }
    if cookies != nil || plan.hasExchangeInterceptors || showsCredential(to: request.url.origin) { return account }
    let isNeutral = request.fields.all.allSatisfy { field in
      !field.isSecret && (Self.neutral.contains(field.name) || plan.cacheKey.headers.contains(field.name))
    }
    return isNeutral ? nil : account
  }

  /// Fields that reveal nothing about an account.
  private static let neutral: Set<HTTPFieldName> = [
    .accept, "Accept-Charset", .acceptEncoding, .acceptLanguage, .cacheControl, .contentEncoding, .contentType,
    "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Pragma", "Range",
    .userAgent,
  ]

  /// Whether the response may also reach other calls, by the cache or by a shared exchange.
  var mayReachOthers: Bool { cache != nil || onUnowned != nil }

  /// Whether the call began at the site of the request or at another site, for the `SameSite` rule of cookies.
  func cookieSite(for request: HTTPRequest) -> CookieSite {
    guard let opener, opener != request.url.origin, !isMeant(request.url.origin) else { return .same }
    if plan.servers.contains(plan.home(of: opener)), plan.servers.contains(plan.home(of: request.url.origin)) {
      return .same
    }
    return .other(opener, isSafe: request.method.isSafe)
  }
}
