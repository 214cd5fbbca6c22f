/// An interceptor that signs each request exactly as the request is sent. Place the interceptor in
/// ``Interceptors/exchanges``, after the interceptors that change the request.
///
/// ```swift
/// configuration.interceptors.exchanges.append(
///   Signing { request in
///     request.fields["X-Signature"] = signature(request.method, request.url.string, request.body?.data)
///   })
/// ```
///
/// The function receives the final URL, fields and body of every exchange. A body that is read while it is sent has no
/// `data` to sign.
///
/// Only requests to servers that the client or the request's ``RequestFamily`` names are signed. A request with an
/// absolute URL of another server is not signed. A request after a redirect to another origin is not signed either.
public struct Signing: Interceptor {
  private let others: Result<Set<HTTPURL.Origin>, APIError>
  private let isSameForAllAccounts: Bool
  private let sign: @Sendable (inout HTTPRequest) async throws -> Void

  /// Makes an interceptor from a function that signs a request. An error that the function throws ends the call with
  /// stage `interceptor`.
  /// - Parameters:
  ///   - urls: Additional servers whose requests are signed: one URL for each server. If a URL is invalid, every call
  ///     fails.
  ///   - isSameForAllAccounts: Whether the signature does not depend on the account. Then all accounts share the stored
  ///     responses of signed servers that get no credential, such as a CDN.
  ///   - sign: Signs the request.
  public init(
    alsoAt urls: [String] = [], isSameForAllAccounts: Bool = false,
    _ sign: @escaping @Sendable (inout HTTPRequest) async throws -> Void
  ) {
    self.isSameForAllAccounts = isSameForAllAccounts
    others = Result { () throws(APIError) in
      var origins: Set<HTTPURL.Origin> = []
      for url in urls { origins.insert(try BaseURLs.parse(url).get().origin) }
      return origins
    }
    self.sign = sign
  }

  /// Signs the request, then passes the request to the rest of the pipeline.
  public func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard signs(request, context, others: try others.get()) else { return try await next(request) }
    var request = request
    try await sign(&request)
    return try await next(request)
  }

  /// Returns true for requests that are signed, unless the signature does not depend on the account.
  public func mayRevealAccount(in request: HTTPRequest, context: CallContext) -> Bool {
    guard !isSameForAllAccounts, let others = try? others.get() else { return false }
    return signs(request, context, others: others)
  }

  private func signs(_ request: HTTPRequest, _ context: CallContext, others: Set<HTTPURL.Origin>) -> Bool {
    let home = context.plan.sending.home(of: request.url.origin)
    return (others.contains(home) || context.plan.access.servers.contains(home)) && context.isFirstOrigin(home)
  }
}
