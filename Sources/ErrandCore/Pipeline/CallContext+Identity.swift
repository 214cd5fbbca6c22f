import ErrandSupport

/// Decides what the requests of a call reveal about the account of the call. The decisions depend on the frozen request
/// of the call (see ``Freezing``).
extension CallContext {
  /// Whether the credential of the call is sent to a server.
  ///
  /// - A credential that the request itself declares is sent only to the origin at which the call began.
  /// - The credential of the client's credential provider is sent only to origins that the provider allows. In
  ///   addition, the call must have begun at such an origin, or at a server that the client or the request's
  ///   ``RequestFamily`` names. So a call that began at a foreign server sends no credential after a redirect.
  package func showsCredential(to origin: HTTPURL.Origin) -> Bool {
    switch plan.access.credential {
    case .none: return false
    case .own: return firstOrigin == nil || isFirstOrigin(origin)
    case .inherited:
      guard allowsCredential(at: origin) else { return false }
      guard let firstOrigin, firstOrigin != origin else { return true }
      return allowsCredential(at: firstOrigin) || plan.access.servers.contains(plan.sending.home(of: firstOrigin))
    }
  }

  /// Whether the client's credential provider allows its credential to be sent to an origin.
  package func allowsCredential(at origin: HTTPURL.Origin) -> Bool {
    guard let provider = plan.access.provider, let base = plan.access.base else { return false }
    return provider.belongs(to: plan.sending.home(of: origin), base: base)
  }

  /// The account to which a stored response to a request belongs. Nil if the request reveals nothing about the account,
  /// so that every account gets the same response.
  ///
  /// The result is nil only if the method is safe, the request has no body, and the provider's credential is not sent
  /// to the server. An example of such a server is a CDN. Even then the response belongs to the account in these cases:
  ///
  /// - The request has a credential, a secret field or cookies.
  /// - The request has a field that may differ between accounts and is not part of the cache key. A field that the
  ///   client adds to every request becomes part of the key: see ``keyRule(_:for:owner:)``.
  /// - An interceptor of the app around the exchange may reveal the account: see
  ///   ``Interceptor/mayRevealAccount(in:context:)``.
  ///
  /// - Parameter cookies: The cookies of the cookie jar for the request.
  package func owner(of request: HTTPRequest, cookies: String?) -> String? {
    guard let account else { return nil }
    guard mayHaveCommonResponse(request) else { return account }
    if cookies != nil || showsCredential(to: request.url.origin)
      || plan.access.exchangeInterceptors.contains(where: { $0.mayRevealAccount(in: request, context: self) })
    {
      return account
    }
    let isNeutral = request.fields.all.allSatisfy { field in
      !field.isSecret
        && (Self.neutral.contains(field.name) || plan.cacheKey.headers.contains(field.name)
          || isCommon(field.name, request))
    }
    return isNeutral ? nil : account
  }

  /// The rule for the cache key of a request. If its response is stored for all accounts, the fields that the client
  /// adds to every request are part of the key, because the app may change them when another account logs in.
  package func keyRule(_ rule: CacheKeyRule, for request: HTTPRequest, owner: String?) -> CacheKeyRule {
    guard owner == nil, account != nil else { return rule }
    let common = request.fields.all.map(\.name).filter { !Self.neutral.contains($0) && isCommon($0, request) }
    return common.isEmpty ? rule : CacheKeyRule(headers: rule.headers + common, leavingOut: rule.leftOut)
  }

  /// Whether all values of a field are those that the client adds to every request.
  private func isCommon(_ name: HTTPFieldName, _ request: HTTPRequest) -> Bool {
    guard let cache else { return false }
    let common = cache.commonHeaders.values(of: name)
    return !common.isEmpty && request.fields.values(of: name).haveSameBytes(as: common)
  }

  /// Whether every account may get the same response to a request, unless a cookie or a field names the account: the
  /// method is safe, the request has no body, and the provider's credential is not sent to the server.
  package func mayHaveCommonResponse(_ request: HTTPRequest) -> Bool {
    request.method.isSafe && request.body == nil && plan.access.base != nil && !allowsCredential(at: request.url.origin)
  }

  /// The names of request fields that reveal nothing about an account.
  private static let neutral: Set<HTTPFieldName> = [
    .accept, "Accept-Charset", .acceptEncoding, "Accept-Language", .cacheControl, .contentEncoding, .contentType,
    "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Pragma", "Range",
    .userAgent,
  ]

  /// Whether the response may also reach other calls, through the cache or through a shared exchange.
  var mayReachOthers: Bool { cache != nil || onUnknownAccount != nil }

  /// Whether the call began at the site of the request or at another site, for the `SameSite` rule of cookies.
  func cookieSite(for request: HTTPRequest) -> CookieSite {
    guard let firstOrigin, firstOrigin != request.url.origin, !isFirstOrigin(request.url.origin) else { return .same }
    if plan.access.servers.contains(plan.sending.home(of: firstOrigin)),
      plan.access.servers.contains(plan.sending.home(of: request.url.origin))
    {
      return .same
    }
    return .other(firstOrigin, isSafe: request.method.isSafe)
  }
}
