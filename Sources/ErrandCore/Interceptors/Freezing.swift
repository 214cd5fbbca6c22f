import ErrandSupport

/// Stores the request and the account of a call in the ``CallContext``. The stored request is called the *frozen*
/// request. Interceptors that run later add only conditional fields, a `Range` field, the credential, cookies and a
/// signature.
package struct Freezing: Interceptor {
  private let sessions: ClientSessions

  /// Makes the interceptor that freezes requests.
  ///
  /// - Parameter sessions: The login sessions of the client. A call of an account that was logged out is rejected.
  package init(_ sessions: ClientSessions) { self.sessions = sessions }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard context.replay == nil, context.plan.kind.isOrdinary else { return try await replayed(request, context, next) }
    return try await next(try fix(request, context))
  }

  // The following functions are separate, so that their local variables do not enlarge the async frame of a call that
  // waits in `next`.

  /// Freezes and sends the request. If the same call has already passed through the pipeline, and has then sent a
  /// corresponding request, that earlier request is sent instead. If the call has a probe (a function that only
  /// receives the request), the probe is called, and nothing is sent.
  @inline(never)  // frame size
  private func replayed(_ request: HTTPRequest, _ context: CallContext, _ next: Next) async throws -> HTTPResponse {
    let frozen = try fixed(request, context)
    if case .inspecting(let probe) = context.plan.kind { return await context.probed(frozen, by: probe) }
    return try await next(frozen)
  }

  /// Returns the request to send. If an earlier pass of the same call through the pipeline has sent a corresponding
  /// request, this is the request of the earlier pass. Otherwise this is the given request.
  private func fixed(_ request: HTTPRequest, _ context: CallContext) throws -> HTTPRequest {
    if let replayed = context.replay?.take(for: request) {
      context.freeze(replayed)
      return replayed.request
    }
    return try fix(request, context)
  }

  @inline(never)  // frame size
  private func fix(_ request: HTTPRequest, _ context: CallContext) throws -> HTTPRequest {
    try APIError.check(request)
    let request = request.fields.contains("Range") ? plain(request, context) : request
    context.freeze(.init(request: request, account: try account(context)))
    return request
  }

  /// The request for a range, without the content codings that the client accepts by default, because a part of an
  /// encoded body cannot be decoded (RFC 9110 section 14.2). An `Accept-Encoding` of the app is not changed.
  private func plain(_ request: HTTPRequest, _ context: CallContext) -> HTTPRequest {
    let standard = context.plan.access.contentCodings.joined(separator: ", ")
    guard request.fields.values(of: .acceptEncoding) == [standard] else { return request }
    var request = request
    request.fields.replace(HTTPField(.acceptEncoding, "identity"))
    return request
  }

  /// The account for which the request is sent. If the same call has already passed through the pipeline once, this is
  /// the account of that earlier pass. Otherwise this is the current account of the credential provider.
  private func account(_ context: CallContext) throws -> String? {
    if let earlier = context.replay?.first { return earlier.account }
    let present = try context.plan.access.provider.flatMap { try sessions.account(of: $0, context.flags) }
    if let required = context.plan.access.requiredAccount, !(present ?? "").hasSameBytes(as: required) {
      throw APIError.otherAccount
    }
    return present
  }
}
