/// Adds the cookies of the cookie jar to each request, and stores the cookies that the response sets.
///
/// This interceptor runs after ``Admitting``. So a call that waited in the queue sends the newest cookies, and the
/// cookies of a response are stored before the next call is admitted. If the caller has set a `Cookie` field, this
/// field is sent unchanged. A TRACE request carries no cookies of the jar.
package struct CookieCarrying: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let jar = jar(context) else { return try await next(request) }
    let (carrying, removalCount) = carrying(request, jar, context)
    return kept(try await next(carrying), request.url, jar, removalCount, context)
  }

  /// The cookie jar of the call; nil if cookies are off, or if the jar belongs to another account than the credential
  /// may belong to.
  private func jar(_ context: CallContext) -> CookieJar? {
    if context.plan.access.cookies.jars != nil, context.flags.isMaybeOfAnotherAccount { return nil }
    return context.cookieJar
  }

  // The following functions are separate, so that their local variables do not enlarge the async frame of a call that
  // waits in `next`.

  @inline(never)  // frame size
  private func carrying(
    _ request: HTTPRequest, _ jar: CookieJar, _ context: CallContext
  ) -> (request: HTTPRequest, removalCount: UInt64) {
    let (field, removalCount) = jar.takeField(for: request.url, from: context.cookieSite(for: request))
    let cookies = mayCarryCookies(request) ? field : nil
    context.flags.cookies = cookies
    guard let cookies else { return (request, removalCount) }
    var request = request
    request.fields.append(HTTPField(.cookie, cookies))
    return (request, removalCount)
  }

  @inline(never)  // frame size
  private func kept(
    _ response: HTTPResponse, _ url: HTTPURL, _ jar: CookieJar, _ removalCount: UInt64, _ context: CallContext
  ) -> HTTPResponse {
    let values = response.fields.values(of: .setCookie)
    if values.isEmpty { return response }
    for refusal in jar.take(values, from: url, removalCount: removalCount) {
      context.plan.log?.info("a cookie from \(url.origin) is rejected: \(refusal)")
    }
    return response
  }
}

private func mayCarryCookies(_ request: HTTPRequest) -> Bool {
  !request.fields.contains(.cookie) && request.method.mayCarryStoredSecrets
}

extension CallContext {
  /// The cookie jar of the call's account. Nil if cookies are off. Also nil if the call notifies the server of a logout
  /// and the account is logged in again: the account's jar then belongs to the new session.
  fileprivate var cookieJar: CookieJar? {
    let rule = plan.access.cookies
    // The jar is taken first: if the account logs in after the question, this jar is no longer that of the account.
    let jar = rule.jar(of: account)
    if rule.jars != nil, let store = plan.access.provider as? CredentialStore, store.isOfFormerSession(account) {
      return nil
    }
    return jar
  }

  /// The cookies for the cache key of a request: the cookies that the cookie jar now has for the request, without
  /// cookies that the configuration leaves out of cache keys. Nil if the jar has no cookies for the request, or if the
  /// request carries no cookies of the jar.
  package func cookies(for request: HTTPRequest) -> String? {
    guard plan.access.cookies.isOn, mayCarryCookies(request) else { return nil }
    let field = cookieJar?.field(for: request.url, from: cookieSite(for: request))
    return field.flatMap { plan.access.cookies.cacheKeyValue(of: $0) }
  }
}
