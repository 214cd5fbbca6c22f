import Errand

/// An interceptor that calls a closure.
struct Around: Interceptor {
  let body: @Sendable (HTTPRequest, CallContext, Next) async throws -> HTTPResponse

  init(_ body: @escaping @Sendable (HTTPRequest, CallContext, Next) async throws -> HTTPResponse) { self.body = body }

  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try await body(request, context, next)
  }
}
