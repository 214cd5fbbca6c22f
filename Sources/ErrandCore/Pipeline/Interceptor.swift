/// Code that wraps a call or an exchange. An interceptor can inspect, change, answer, repeat or reject a request.
///
/// ```swift
/// struct Stamp: Interceptor {
///   func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
///     var request = request
///     request.fields["X-Trace"] = UUID().uuidString
///     return try await next(request)
///   }
/// }
/// ```
///
/// An interceptor runs in a separate task, which the call awaits and which is cancelled with the call. The interceptor
/// may call `next` not at all, once or several times, also concurrently. An interceptor receives a response with any
/// status as a result, not as an error.
public protocol Interceptor: Sendable {
  /// Handles a request. Usually it passes the request to `next`, and returns the response of `next`.
  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse
}
