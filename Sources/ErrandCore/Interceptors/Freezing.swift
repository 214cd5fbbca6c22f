/// Fixes what is sent: below here only conditionals, a range, the credential, cookies and a signature are added.
package struct Freezing: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try WireRules.check(request)
    context.freeze(.init(opener: request.url.origin, account: context.plan.provider?.account))
    return try await next(request)
  }
}
