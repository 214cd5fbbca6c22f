/// Follows redirects one after the other. Each request of a redirect chain passes through the rest of the pipeline
/// separately.
package struct Redirecting: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let response = try await next(request)
    guard StatusRule.isRedirect(response.status) else { return response }
    return try await followed(response, request, context, next)
  }

  /// This function is separate, so that its local variables do not enlarge the async frame of a call that waits for its
  /// first response.
  @inline(never)  // frame size
  private func followed(
    _ response: HTTPResponse, _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    let (last, stored) = try await follow(response, to: request, context, next)
    guard let stored, (400..<500).contains(last.status), context.cache?.mode.usesOnlyCache != true else { return last }
    // A stored redirect may lead to a URL that no longer exists. So the request of the stored redirect is sent to the
    // server once, and the call continues from the server's response.
    let past = context.pastCache()
    let fresh = try await next(stored, in: past)
    if fresh.origin == .local { return last }
    guard StatusRule.isRedirect(fresh.status) else { return fresh }
    return try await follow(fresh, to: stored, past, next).last
  }

  /// Follows all redirects. Returns the final response, and the first request whose response was a redirect from the
  /// cache. The caller may send this request again, to get a newer redirect from the server. If a request that must not be
  /// repeated was sent after the stored redirect, the returned request is nil.
  private func follow(
    _ first: HTTPResponse, to initial: HTTPRequest, _ context: CallContext, _ next: Next
  ) async throws -> (last: HTTPResponse, stored: HTTPRequest?) {
    var stored: HTTPRequest?
    var response = first
    var request = initial
    var visited = [initial]
    var loopStart = 0
    while true {
      let isStored = response.origin == .cacheFresh || response.origin == .cacheStale
      let mayRepeat = request.method.isSafe && context.plan.sending.idempotency.allows(request.method)
      if !isStored, !mayRepeat { stored = nil }
      let asked = context.plan.sending.hosts == nil ? request.url : response.url
      // After a response that sets cookies, another request for the same URL is not a loop, because the server may
      // respond differently.
      if context.plan.access.cookies.isOn, response.fields.contains(.setCookie) { loopStart = visited.count }
      switch RedirectDecision.decide(
        response, to: request, asked: asked, visited: visited, from: loopStart, hosts: context.plan.sending.hosts,
        policy: context.plan.sending.redirects)
      {
      case .deliver:
        if StatusRule.isRedirect(response.status) {
          context.note(
            .notRedirected(status: response.status, reason: "the redirect policy is `RedirectPolicy.manual`"))
        }
        return (response, stored)
      case .fail(let error):
        context.note(.notRedirected(status: response.status, reason: error.message))
        throw error.with { $0.response = response }
      case .follow(let hop):
        if isStored { stored = stored ?? request }
        context.record.recordRedirect()
        context.note(
          .redirected(
            CallDecision.Redirect(
              status: response.status, target: hop.url.string, method: request.method, newMethod: hop.method,
              removesSecrets: isWithholding(request, context) && !isWithholding(hop, context))))
        context.plan.log?.info("\(response.status) redirects to \(hop)")
        visited.append(hop)
        request = hop
        response = try await next(hop, in: context)
      }
    }
  }

  /// Whether a request has fields that are not sent to another origin.
  private func isWithholding(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    request.fields.all.contains { RedirectDecision.isWithheld($0, by: context.plan.sending.redirects) }
  }
}
