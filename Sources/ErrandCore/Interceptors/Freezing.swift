/// Fixes what is sent: below here only conditionals, a range, the credential, cookies and a signature are added.
package struct Freezing: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    if let replayed = context.replay?.take(for: request) {
      context.freeze(replayed)
      return try await next(replayed.request)
    }
    try WireRules.check(request)
    context.freeze(.init(request: request, account: account(context)))
    if let probe = context.plan.probe {
      await probe(request, context)
      return HTTPResponse(head: ResponseHead(status: 204), url: request.url)
    }
    return try await next(request)
  }

  /// The account of the call's first pass, where there was one.
  private func account(_ context: CallContext) -> String? {
    if let earlier = context.replay?.first { return earlier.account }
    return context.plan.provider?.account
  }
}
