import ErrandSupport

/// Adds the credential of the call to a request. The request must have no `Authorization` field, and the credential
/// must be allowed for the request's origin. If the response rejects the credential, as the status 401 does, and a
/// newer credential is available, the request is sent once more.
package struct Authorizing: SelectiveInterceptor {
  private let control: RefreshControl

  /// Makes the interceptor that sends credentials.
  ///
  /// - Parameter control: The object that gets credentials from the credential provider of the client, and refreshes
  ///   them. It is not used for refreshing if the provider is a class instance. All clients with the same instance
  ///   share another ``RefreshControl``, which then refreshes the credentials.
  package init(_ control: RefreshControl) { self.control = control }

  /// True if a credential may be available for the request, and the request has no `Authorization` field. A TRACE
  /// request gets only a credential that the request itself declares.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    if request.fields.contains(.authorization) { return false }
    return switch context.plan.access.credential {
    case .none: false
    case .own: true
    case .inherited: context.plan.access.provider != nil && request.method.mayCarryStoredSecrets
    }
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let shown = try await credential(for: request, context) else { return try await next(request) }
    let context = keepingRejections(of: request, context)
    let response = try await next(try authorized(request, shown), in: context)
    guard isRejected(by: response, context) else { return response }
    return try await resend(request, shown, Self.marked(response), context, next)
  }

  // The following functions are separate, so that their local variables do not enlarge the async frame of a call that
  // waits in `next`.

  /// The provider that decides whether a response rejects the credential of its request. Nil if only the status 401
  /// decides, because the credential is not that of a ``RefreshingProvider``. A ``FixedCredential`` is never one; it is
  /// sorted out first, because a cast to a protocol is slow.
  private func judge(in context: CallContext) -> (any RefreshingProvider)? {
    guard case .inherited = context.plan.access.credential, let provider = context.plan.access.provider,
      !(provider is FixedCredential)
    else { return nil }
    return provider as? any RefreshingProvider
  }

  /// Returns a context whose sink does not receive responses that reject the credential by their headers. Returns the
  /// same context if the call has no sink, or if only the status 401 rejects the credential.
  @inline(never)  // frame size
  private func keepingRejections(of request: HTTPRequest, _ context: CallContext) -> CallContext {
    guard let sink = context.sink, let judge = judge(in: context) else { return context }
    let url = request.url
    let guarded = RejectionSink(sink) { head in judge.isRejection(HTTPResponse(head: head, url: url)) }
    return context.with { $0.sink = guarded }
  }

  /// Whether the response rejects the credential of its request. The provider is not asked again about a response that
  /// its headers reject, or that the sink of the call has received.
  @inline(never)  // frame size
  private func isRejected(by response: HTTPResponse, _ context: CallContext) -> Bool {
    guard let judge = judge(in: context) else { return response.status == 401 }
    if let sink = context.sink as? RejectionSink {
      if sink.takeRejection(by: response) { return true }
      if sink.hasBegun { return response.status == 401 }
    }
    return judge.isRejection(response)
  }

  /// Sends the request once more with a newer credential. Returns `response` if no newer credential is available or if
  /// the request body cannot be replayed.
  @inline(never)  // frame size
  private func resend(
    _ request: HTTPRequest, _ old: Credential, _ response: HTTPResponse, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    guard let provider = context.plan.access.refreshing else {
      return refused(.notPossible, response, context)
    }
    if request.body?.isReplayable == false { return refused(.bodyUsedUp, response, context) }
    // The bytes in the sink cannot be taken back, so this response is the result of the call.
    if (context.sink as? RejectionSink)?.hasBegun == true { return refused(.delivered, response, context) }
    if !context.flags.takeRefresh(of: old) { return refused(.refreshedBefore, response, context) }
    guard let newer = try await newer(than: old, by: provider, context, after: response) else { return response }
    context.plan.log?.info(
      "the response with status \(response.status) rejected the credential; sending the request again with a newer one")
    let second = try await next(try authorized(request, newer), in: context)
    return isRejected(by: second, context) ? Self.marked(second) : second
  }

  /// Marks a response that rejected a credential with another status than 401, for the cache and for an outbox. The
  /// cache would also return it to later calls with a valid credential.
  private static func marked(_ rejection: HTTPResponse) -> HTTPResponse {
    rejection.status == 401 ? rejection : rejection.markedAsRejection()
  }

  /// Records why the credential is not refreshed, and returns the response that rejected it.
  private func refused(
    _ result: CallDecision.RefreshResult, _ response: HTTPResponse, _ context: CallContext
  ) -> HTTPResponse {
    context.note(.refreshed(Self.cause(response), result))
    return response
  }

  private static func cause(_ response: HTTPResponse?) -> CallDecision.RefreshCause {
    guard let response else { return .expiring }
    return response.status == 401 ? .rejected : .rejectedInBody
  }

  /// Returns a credential that is newer than `old`; nil if no newer credential is available.
  ///
  /// - Parameter response: The response that rejected the credential. If the refresh fails, the error contains this
  ///   response. Nil if the credential is refreshed because it expires soon.
  private func newer(
    than old: Credential, by provider: any RefreshingProvider, _ context: CallContext,
    after response: HTTPResponse? = nil
  ) async throws -> Credential? {
    let cause = Self.cause(response)
    do {
      let control = RefreshControl.shared(by: provider) ?? control
      let (newer, result) = try await control.newer(
        than: old, for: context.account, by: provider, at: context.plan.access.base,
        nesting: context.plan.access.nesting,
        context.call)
      context.note(.refreshed(cause, result))
      try checkAccount(of: provider, context)
      return newer
    } catch {
      try context.call.check()
      let error = Self.failure(of: error)
      context.note(.refreshed(cause, .failed(error.message)))
      throw error.with { $0.response = $0.response ?? response }
    }
  }

  /// The error of a call for which the provider could not supply a credential. If the provider has sent a call of its
  /// own, and throws the error of that call, then stage, status and response of the error do not describe this call:
  /// its request was not sent. So the error becomes the cause.
  private static func failure(of error: any Error) -> APIError {
    guard let cause = error as? APIError, cause.stage != .authorize, cause.code != .loggedOut else {
      return APIError.mapping(error, as: .authorize)
    }
    let clause = "the credential provider failed: \(cause.message)"
    return APIError(
      .authorize, cause.leavesCredential ? .refreshUnavailable : .noCredential, APIError.sentence(clause), cause: cause)
  }

  private func authorized(_ request: HTTPRequest, _ credential: Credential) throws -> HTTPRequest {
    try credential.check()
    var request = request
    request.fields.append(HTTPField(.authorization, credential.fieldValue, isSecret: true))
    try APIError.check(request)
    return request
  }

  /// The credential to send with the request; nil if the request is sent without a credential.
  @inline(never)  // frame size
  private func credential(for request: HTTPRequest, _ context: CallContext) async throws -> Credential? {
    guard context.showsCredential(to: request.url.origin) else { return nil }
    switch context.plan.access.credential {
    case .none: return nil
    case .own(let credential): return credential
    case .inherited:
      guard let provider = context.plan.access.provider else { return nil }
      if let fixed = provider as? FixedCredential { return try await fixed.credential(for: context.account) }
      return try await provided(by: provider, context)
    }
  }

  /// Sets the flag `isMaybeOfAnotherAccount` if the account changed while a provider supplied a credential. The
  /// credential may then belong to the new account, so the response must not reach other calls, and the cookies of the
  /// old account are neither sent nor changed. The same applies if no account was logged in before, for example because
  /// the provider waited for a login. A ``CredentialStore`` is exempt, because the store always returns the credential
  /// of the account for which the credential is requested.
  /// - Throws: ``APIError`` if the call is a download, whose partial file belongs to the old account or to none.
  private func checkAccount(of provider: any CredentialProvider, _ context: CallContext) throws(APIError) {
    let plan = context.plan
    guard context.mayReachOthers || plan.hasDownload || plan.access.cookies.jars != nil,
      !(provider is CredentialStore), !provider.account.hasSameBytes(as: context.account)
    else { return }
    if plan.hasDownload { throw .otherAccount }
    context.flags.isMaybeOfAnotherAccount = true
  }

  private func provided(by provider: any CredentialProvider, _ context: CallContext) async throws -> Credential? {
    let account = context.account
    try context.call.check()
    let credential: Credential?
    do {
      credential = try await control.credential(
        for: account, by: provider, nesting: context.plan.access.nesting, context.call)
      // A call that began without an account, and that gets no credential, reveals no account. A login in the meantime
      // must not fail its download.
      if account != nil || credential != nil { try checkAccount(of: provider, context) }
    } catch {
      try context.call.check()
      throw Self.failure(of: error)
    }
    guard let credential, let refreshing = provider as? any RefreshingProvider, refreshing.isExpiring(credential) else {
      return credential
    }
    do {
      return try await newer(than: credential, by: refreshing, context) ?? credential
    } catch {
      try context.call.check()
      if (error as? APIError)?.code == .loggedOut { throw error }
      // The failure of the refresh is only logged, because the server may still accept the old credential. If the
      // server responds with 401, the credential is refreshed once more, and a failure of this second refresh is
      // thrown.
      context.plan.log?.info("the credential expires soon and could not be refreshed, so it is still used: \(error)")
      return credential
    }
  }
}
