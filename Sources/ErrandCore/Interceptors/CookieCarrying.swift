/// Adds the cookies of the jar to each exchange, and stores the cookies that its response sets.
///
/// This interceptor runs after ``Admitting``. So a call that waited in the queue sends the newest cookies, and the
/// cookies of a response are stored before the next call is admitted. A `Cookie` field that the caller set is
/// unchanged.
package struct CookieCarrying: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let jar = context.plan.cookies.jar(of: context.account) else { return try await next(request) }
    let (carrying, era) = carrying(request, jar, context)
    return kept(try await next(carrying), request.url, jar, era, context)
  }

  // These functions are separate so that their locals do not grow the async frame of a call that waits in `next`.

  @inline(never)  // frame size
  private func carrying(
    _ request: HTTPRequest, _ jar: CookieJar, _ context: CallContext
  ) -> (request: HTTPRequest, era: UInt64) {
    let (field, era) = jar.takeField(for: request.url, from: context.cookieSite(for: request))
    let cookies = request.fields.contains(.cookie) ? nil : field
    context.flags.cookies = cookies
    guard let cookies else { return (request, era) }
    var request = request
    request.fields.append(HTTPField(.cookie, cookies))
    return (request, era)
  }

  @inline(never)  // frame size
  private func kept(
    _ response: HTTPResponse, _ url: HTTPURL, _ jar: CookieJar, _ era: UInt64, _ context: CallContext
  ) -> HTTPResponse {
    let values = response.fields.octets(of: .setCookie)
    if values.isEmpty { return response }
    for refusal in jar.take(values, from: url, era: era) {
      context.plan.log?.info("a cookie from \(url.origin) is rejected: \(refusal)")
    }
    return response
  }
}

extension CallContext {
  /// The cookies that the jar has for a request now, without cookies that the configuration leaves out of cache keys.
  /// Nil if there are none, or if the request already has a `Cookie` field.
  package func cookies(for request: HTTPRequest) -> String? {
    guard plan.cookies.isOn, !request.fields.contains(.cookie) else { return nil }
    let field = plan.cookies.jar(of: account)?.field(for: request.url, from: cookieSite(for: request))
    return field.flatMap { plan.cookies.separating($0) }
  }
}
