import ErrandSupport

/// Adds the credential, where the origin is one it belongs to and nobody set `Authorization` by hand. Where a server
/// refuses it and another one can be had, the exchange is sent once more.
package struct Authorizing: SelectiveStation {
  private let control: RefreshControl

  /// - Parameter control: Who refreshes for providers that are values.
  package init(_ control: RefreshControl) { self.control = control }

  /// Where there may be a credential to show.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    if request.fields.contains(.authorization) { return false }
    return switch context.plan.credential {
    case .none: false
    case .own: true
    case .inherited: context.plan.provider != nil
    }
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let shown = try await credential(for: request, context) else { return try await next(request) }
    let response = try await next(try authorized(request, shown))
    guard response.status == 401 else { return response }
    return try await again(request, shown, response, context, next)
  }

  // What follows stands apart, so that a call that waits below holds no room for what it does not do.

  /// Once more with a newer credential; the answer stands where there is none, or where it cannot be sent again.
  @inline(never)
  private func again(
    _ request: HTTPRequest, _ refused: Credential, _ response: HTTPResponse, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    guard let provider = context.plan.refreshing, request.body?.isReplayable ?? true, !isTaken(response, context),
      context.record.takeRefresh(),
      let newer = try await newer(than: refused, by: provider, context, after: response)
    else { return response }
    context.plan.log?.info("401: sending again with another credential")
    return try await next(try authorized(request, newer))
  }

  /// Whether a sink has taken the answer's body: then it is the answer that is wanted.
  private func isTaken(_ response: HTTPResponse, _ context: CallContext) -> Bool {
    context.sink != nil && context.plan.statusRule.accepts(response.status)
  }

  /// - Parameter response: The answer that asked for it, which is the error's where none can be had.
  private func newer(
    than old: Credential, by provider: any RefreshingProvider, _ context: CallContext,
    after response: HTTPResponse? = nil
  ) async throws -> Credential? {
    do {
      let control = RefreshControl.shared(by: provider) ?? control
      let newer = try await control.newer(
        than: old, for: context.account, by: provider, at: context.plan.base, nesting: context.plan.nesting,
        context.call)
      checkAccount(of: provider, context)
      return newer
    } catch {
      try context.call.check()
      throw APIError.mapping(error, as: .authorize).with { $0.response = $0.response ?? response }
    }
  }

  private func authorized(_ request: HTTPRequest, _ credential: Credential) throws -> HTTPRequest {
    try credential.check()
    var request = request
    request.fields.append(HTTPField(.authorization, credential.fieldValue, isSecret: true))
    try APIError.check(request)
    return request
  }

  /// The credential that the request shows, if any.
  @inline(never)
  private func credential(for request: HTTPRequest, _ context: CallContext) async throws -> Credential? {
    guard context.showsCredential(to: request.url.origin) else { return nil }
    switch context.plan.credential {
    case .none: return nil
    case .own(let credential): return credential
    case .inherited:
      guard let provider = context.plan.provider else { return nil }
      if let fixed = provider as? FixedCredential { return try await fixed.credential(for: context.account) }
      return try await provided(by: provider, context)
    }
  }

  /// Notes if another account is present once a provider has given a credential: it may be that account's, so that the
  /// response must reach no other call. A store gives the credential of the account that it is asked about.
  private func checkAccount(of provider: any CredentialProvider, _ context: CallContext) {
    guard let account = context.account, !(provider is CredentialStore), context.mayReachOthers else { return }
    if !provider.account.hasSameBytes(as: account) { context.record.mayBeOfAnotherAccount() }
  }

  private func provided(by provider: any CredentialProvider, _ context: CallContext) async throws -> Credential? {
    let account = context.account
    try context.call.check()
    let credential: Credential?
    do {
      credential = try await control.credential(
        for: account, by: provider, nesting: context.plan.nesting, context.call)
      checkAccount(of: provider, context)
    } catch {
      try context.call.check()
      throw APIError.mapping(error, as: .authorize)
    }
    guard let credential, let refreshing = provider as? any RefreshingProvider, refreshing.isExpiring(credential) else {
      return credential
    }
    do {
      return try await newer(than: credential, by: refreshing, context) ?? credential
    } catch {
      try context.call.check()
      if (error as? APIError)?.code == .loggedOut { throw error }
      // It may still be taken; where it is not, the 401 tells of this failure.
      context.plan.log?.info("the credential is about to run out, and no other could be had: \(error)")
      return credential
    }
  }
}
