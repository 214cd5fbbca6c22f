/// Adds the jar's cookies to each exchange, and keeps those that its answer sets.
///
/// It stands below Admitting: a call that waited for its turn carries what is in the jar now, and what an answer sets is
/// there before the next call has its turn. A `Cookie` field that was set by hand is left as it is.
package struct CookieCarrying: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let jar = context.plan.cookies.jar(of: context.account) else { return try await next(request) }
    let (carrying, era) = carrying(request, jar, context)
    return kept(try await next(carrying), request.url, jar, era, context)
  }

  // What follows stands apart, so that a call that waits below holds no room for it.

  @inline(never)
  private func carrying(
    _ request: HTTPRequest, _ jar: CookieJar, _ context: CallContext
  ) -> (request: HTTPRequest, era: UInt64) {
    let (field, era) = jar.takeField(for: request.url, from: context.cookieSite(for: request))
    let cookies = request.fields.contains(.cookie) ? nil : field
    context.record.carries(cookies)
    guard let cookies else { return (request, era) }
    var request = request
    request.fields.append(HTTPField(.cookie, cookies))
    return (request, era)
  }

  @inline(never)
  private func kept(
    _ response: HTTPResponse, _ url: HTTPURL, _ jar: CookieJar, _ era: UInt64, _ context: CallContext
  ) -> HTTPResponse {
    let values = response.fields.octets(of: .setCookie)
    if values.isEmpty { return response }
    for refusal in jar.take(values, from: url, era: era) {
      context.plan.log?.info("a cookie of \(url.origin) is not kept: \(refusal)")
    }
    return response
  }
}

extension CallContext {
  /// The cookies that the jar has for a request now, without those that do not separate stored responses; nil if there
  /// are none, or if the request has a `Cookie` header of its own.
  package func cookies(for request: HTTPRequest) -> String? {
    guard plan.cookies.isOn, !request.fields.contains(.cookie) else { return nil }
    let field = plan.cookies.jar(of: account)?.field(for: request.url, from: cookieSite(for: request))
    return field.flatMap { plan.cookies.separating($0) }
  }
}
