/// Signs what is really sent: place it among ``ClientConfiguration/exchangeInterceptors``, behind those that change
/// the request.
///
/// ```swift
/// configuration.exchangeInterceptors.append(
///   Signing { request in
///     request.fields["X-Signature"] = signature(request.method, request.url.string, request.body?.data)
///   })
/// ```
///
/// It sees the final URL, fields and body of every exchange; a body that is read while it is sent has no `data` to sign.
/// It runs for servers that the client or the family of the request names, and neither for a redirect that leads to
/// another origin than the call began with, nor for an absolute URL of another server: no signature is shown there.
public struct Signing: Interceptor {
  private let others: Result<Set<HTTPURL.Origin>, APIError>
  private let sign: @Sendable (inout HTTPRequest) async throws -> Void

  /// Makes a station of a function; what it throws ends the call with stage `interceptor`.
  /// - Parameters:
  ///   - urls: Other servers that see a signature, each by a URL of its. One that is none fails the calls.
  ///   - sign: Signs the request.
  public init(alsoAt urls: [String] = [], _ sign: @escaping @Sendable (inout HTTPRequest) async throws -> Void) {
    others = Result { () throws(APIError) in
      var origins: Set<HTTPURL.Origin> = []
      for url in urls { origins.insert(try RequestBuilder.parse(base: url).get().origin) }
      return origins
    }
    self.sign = sign
  }

  /// Signs the request and passes it on.
  public func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let home = context.plan.home(of: request.url.origin)
    guard try others.get().contains(home) || context.plan.servers.contains(home),
      context.isMeant(home)
    else {
      return try await next(request)
    }
    var request = request
    try await sign(&request)
    return try await next(request)
  }
}
