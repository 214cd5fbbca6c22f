/// Adds the credential, where the origin is one it belongs to and nobody set `Authorization` by hand.
package struct Authorizing: Interceptor {
  package init() {}

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try await next(try await authorized(request, context))
  }

  /// The request with the credential that it shows, if any. Apart: a call that waits below holds no room for what is
  /// done before.
  @inline(never)
  private func authorized(_ request: HTTPRequest, _ context: CallContext) async throws -> HTTPRequest {
    guard !request.fields.contains(.authorization), let credential = try await credential(request, context) else {
      return request
    }
    var request = request
    request.fields.append(HTTPField(.authorization, credential.fieldValue, isSecret: true))
    try WireRules.check(request)
    return request
  }

  private func credential(_ request: HTTPRequest, _ context: CallContext) async throws -> Credential? {
    switch context.plan.credential {
    case .none: return nil
    case .own(let credential): return request.url.origin == context.opener ? credential : nil
    case .inherited:
      let account = context.account
      guard let provider = context.plan.provider, let base = context.plan.base,
        provider.belongs(to: request.url.origin, base: base)
      else { return nil }
      if let fixed = provider as? FixedCredential { return try await fixed.credential(for: account) }
      try context.call.check()
      do {
        return try await context.call.running { try await provider.credential(for: account) }
      } catch {
        try context.call.check()
        throw APIError.mapping(error, as: .authorize)
      }
    }
  }
}
