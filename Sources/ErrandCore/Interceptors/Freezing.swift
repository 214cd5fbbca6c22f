/// Fixes what is sent: below here only conditionals, a range, the credential, cookies and a signature are added.
package struct Freezing: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    if let replayed = context.replayed {
      context.freeze(replayed)
      return try await next(replayed.request)
    }
    try WireRules.check(request)
    context.freeze(.init(request: request, account: context.plan.provider?.account))
    return try await next(request)
  }
}
