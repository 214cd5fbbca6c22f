import Errand

/// An interceptor made of a function.
struct Around: Interceptor {
  let body: @Sendable (HTTPRequest, CallContext, Next) async throws -> HTTPResponse

  init(_ body: @escaping @Sendable (HTTPRequest, CallContext, Next) async throws -> HTTPResponse) { self.body = body }

  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try await body(request, context, next)
  }
}
