/// Stands around a call or an exchange: sees it, changes it, answers it, repeats it, refuses it.
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
/// It runs in a task of its own that a cancel of the call cancels, and is awaited. It may call `next` never, once or
/// several times, also side by side. A status is an answer here, not an error.
public protocol Interceptor: Sendable {
  /// Passes the request on to `next` and the answer back, or does otherwise.
  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse
}
