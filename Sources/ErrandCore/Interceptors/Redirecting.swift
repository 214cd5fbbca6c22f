/// Follows redirects one hop at a time; each hop goes down the rest of the line on its own.
package struct Redirecting: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let response = try await next(request)
    guard RedirectDecision.isRedirect(response.status) else { return response }
    return try await followed(response, request, context, next)
  }

  /// Apart, so that a call that waits for its first answer holds no room for it.
  @inline(never)
  private func followed(
    _ response: HTTPResponse, _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    let (last, usedCache) = try await follow(response, to: request, context, next)
    guard usedCache, (400..<500).contains(last.status), context.cache?.mode.asksNobody != true else { return last }
    // A stored redirect may lead to where nothing is any more: the server is asked for the way once.
    let past = context.pastCache()
    let fresh = try await next(request, in: past)
    if fresh.origin == .local { return last }
    guard RedirectDecision.isRedirect(fresh.status) else { return fresh }
    return try await follow(fresh, to: request, past, next).last
  }

  private func follow(
    _ first: HTTPResponse, to opener: HTTPRequest, _ context: CallContext, _ next: Next
  ) async throws -> (last: HTTPResponse, usedCache: Bool) {
    var usedCache = false
    var response = first
    var request = opener
    var visited = [opener]
    while true {
      let asked = context.plan.hosts == nil ? request.url : response.url
      switch RedirectDecision.decide(
        response, to: request, asked: asked, visited: visited, policy: context.plan.redirects)
      {
      case .deliver: return (response, usedCache)
      case .fail(let error): throw error.with { $0.response = response }
      case .follow(let hop):
        usedCache = usedCache || response.origin == .cacheFresh || response.origin == .cacheStale
        context.record.hopped()
        context.plan.log?.info("\(response.status) redirects to \(hop)")
        visited.append(hop)
        request = hop
        response = try await next(hop, in: context)
      }
    }
  }
}
