import ErrandSupport

/// Fixes what is sent: below here only conditionals, a range, the credential, cookies and a signature are added.
package struct Freezing: Interceptor {
  private let sessions: ClientSessions

  /// - Parameter sessions: Knows which sessions have ended.
  package init(_ sessions: ClientSessions) { self.sessions = sessions }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard context.replay == nil, context.plan.probe == nil else { return try await replayed(request, context, next) }
    try fix(request, context)
    return try await next(request)
  }

  // What follows stands apart, so that a call that waits below holds no room for it.

  /// What an earlier pass of the call has sent is sent again; a probe is told of it instead.
  @inline(never)
  private func replayed(_ request: HTTPRequest, _ context: CallContext, _ next: Next) async throws -> HTTPResponse {
    let frozen = try fixed(request, context)
    if let probe = context.plan.probe { return await probed(frozen, context, probe) }
    return try await next(frozen)
  }

  private func probed(_ request: HTTPRequest, _ context: CallContext, _ probe: FrozenProbe) async -> HTTPResponse {
    await probe(request, context)
    return HTTPResponse(head: ResponseHead(status: 204), url: request.url)
  }

  /// What is sent: this request, or the one that an earlier pass of the call has sent.
  private func fixed(_ request: HTTPRequest, _ context: CallContext) throws -> HTTPRequest {
    if let replayed = context.replay?.take(for: request) {
      context.freeze(replayed)
      return replayed.request
    }
    try fix(request, context)
    return request
  }

  @inline(never)
  private func fix(_ request: HTTPRequest, _ context: CallContext) throws {
    try APIError.check(request)
    context.freeze(.init(request: request, account: try account(context)))
  }

  /// The account of the call's first pass, where there was one.
  private func account(_ context: CallContext) throws -> String? {
    if let earlier = context.replay?.first { return earlier.account }
    let present = try context.plan.provider.flatMap { try sessions.account(of: $0, context.record) }
    if let required = context.plan.requiredAccount, !present.hasSameBytes(as: required) { throw APIError.otherAccount }
    return present
  }
}
