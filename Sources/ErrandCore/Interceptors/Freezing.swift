import ErrandSupport

/// Fixes (*freezes*) the request and the account of a call. Later interceptors add only conditional fields, a range,
/// the credential, cookies and a signature.
package struct Freezing: Interceptor {
  private let sessions: ClientSessions

  /// - Parameter sessions: The login sessions of the client. A call of an account that was logged out is rejected.
  package init(_ sessions: ClientSessions) { self.sessions = sessions }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard context.replay == nil, context.plan.kind.isOrdinary else { return try await replayed(request, context, next) }
    try fix(request, context)
    return try await next(request)
  }

  // These functions are separate so that their locals do not grow the async frame of a call that waits in `next`.

  /// Sends the request that an earlier pass of the same call has sent. If the call has a probe, the probe receives the
  /// request and nothing is sent.
  @inline(never)  // frame size
  private func replayed(_ request: HTTPRequest, _ context: CallContext, _ next: Next) async throws -> HTTPResponse {
    let frozen = try fixed(request, context)
    if case .probing(let probe) = context.plan.kind { return await probed(frozen, context, probe) }
    return try await next(frozen)
  }

  private func probed(_ request: HTTPRequest, _ context: CallContext, _ probe: FrozenProbe) async -> HTTPResponse {
    await probe(request, context)
    return HTTPResponse(head: ResponseHead(status: 204), url: request.url)
  }

  /// The request to send: `request`, or the request that an earlier pass of the same call has sent.
  private func fixed(_ request: HTTPRequest, _ context: CallContext) throws -> HTTPRequest {
    if let replayed = context.replay?.take(for: request) {
      context.freeze(replayed)
      return replayed.request
    }
    try fix(request, context)
    return request
  }

  @inline(never)  // frame size
  private func fix(_ request: HTTPRequest, _ context: CallContext) throws {
    try APIError.check(request)
    context.freeze(.init(request: request, account: try account(context)))
  }

  /// The account of the call's first pass if there was one. Otherwise the current account of the credential provider.
  private func account(_ context: CallContext) throws -> String? {
    if let earlier = context.replay?.first { return earlier.account }
    let present = try context.plan.provider.flatMap { try sessions.account(of: $0, context.flags) }
    if let required = context.plan.requiredAccount, !present.hasSameBytes(as: required) { throw APIError.otherAccount }
    return present
  }
}
