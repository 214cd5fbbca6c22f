/// What a request of the call shows of its account, decided from what is frozen.
extension CallContext {
  /// Whether the call's credential goes to a server.
  ///
  /// A credential of the request's own goes to the origin that the call began with. The provider's goes to the origins
  /// that it names, if the call also began at one of these or at a server that client or family name: a call that began
  /// at a foreign server gets no credential by a redirect.
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

  /// Whether the credential of the client's provider belongs to a server.
  package func isAtHome(_ origin: HTTPURL.Origin) -> Bool {
    guard let provider = plan.provider, let base = plan.base else { return false }
    return provider.belongs(to: plan.home(of: origin), base: base)
  }

  /// The account that a stored response to a request belongs to; nil if the request shows nothing of the account, so
  /// that every account gets the same response.
  ///
  /// That is so at most for a safe method without a body at a server to which the provider's credential does not belong,
  /// such as a CDN. In doubt it belongs to the account: the request carries a credential, a secret field or cookies, or a
  /// field that is not known to be the same for all accounts and does not belong to the key, or interceptors run around
  /// the exchange.
  ///
  /// - Parameter cookies: The cookies of the jar for the request.
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

  /// Fields that say nothing of an account.
  private static let neutral: Set<HTTPFieldName> = [
    .accept, "Accept-Charset", .acceptEncoding, .acceptLanguage, .cacheControl, .contentEncoding, .contentType,
    "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Pragma", "Range",
    .userAgent,
  ]

  /// Whether the response may reach another call than this one, by the cache or by a shared exchange.
  var mayReachOthers: Bool { cache != nil || onUnowned != nil }

  /// What the cookies of a request have to be like: a call that began at another site is held to `SameSite`.
  func cookieSite(for request: HTTPRequest) -> CookieSite {
    guard let opener, opener != request.url.origin, !isMeant(request.url.origin) else { return .same }
    if plan.servers.contains(plan.home(of: opener)), plan.servers.contains(plan.home(of: request.url.origin)) {
      return .same
    }
    return .other(opener, isSafe: request.method.isSafe)
  }
}
