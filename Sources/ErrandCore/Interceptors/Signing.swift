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
/// It does not run for a redirect that leads to another origin than the call began with, so that no signature is shown
/// there. A request that itself goes elsewhere, by an
/// absolute URL for one, is signed; where that must not be, look at the origin of its URL first.
public struct Signing: Interceptor {
  private let sign: @Sendable (inout HTTPRequest) async throws -> Void

  /// Makes a station of a function; what it throws ends the call with stage `interceptor`.
  public init(_ sign: @escaping @Sendable (inout HTTPRequest) async throws -> Void) {
    self.sign = sign
  }

  /// Signs the request and passes it on.
  public func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard context.plan.home(of: request.url.origin) == context.opener else { return try await next(request) }
    var request = request
    try await sign(&request)
    return try await next(request)
  }
}
