/// Follows redirects one hop at a time; each hop goes down the rest of the line on its own.
package struct Redirecting: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let response = try await next(request)
    guard RedirectDecision.isRedirect(response.status) else { return response }
    return try await follow(response, to: request, context, next)
  }

  private func follow(
    _ first: HTTPResponse, to opener: HTTPRequest, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    var response = first
    var request = opener
    var visited = [opener]
    while true {
      switch RedirectDecision.decide(response, to: request, visited: visited, policy: context.plan.redirects) {
      case .deliver: return response
      case .fail(let error): throw error.with { $0.response = response }
      case .follow(let hop):
        context.record.hopped()
        context.plan.log?.info("\(response.status) redirects to \(hop)")
        visited.append(hop)
        request = hop
        response = try await next(hop)
      }
    }
  }
}
