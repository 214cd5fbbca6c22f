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

  /// Whether the interceptor may make a request different for different accounts. The default is true.
  ///
  /// Only the interceptors in ``Interceptors/exchanges`` are asked, and only about a read from a server
  /// that gets no credential, such as a CDN. If all of them return false, all accounts share the stored response.
  /// Otherwise it belongs to the account that is logged in. Return false for example if you add a trace identifier or a
  /// signature of the app. A response is not stored if you add a secret field in spite of that.
  func mayRevealAccount(in request: HTTPRequest, context: CallContext) -> Bool
}

extension Interceptor {
  /// Returns true.
  public func mayRevealAccount(in request: HTTPRequest, context: CallContext) -> Bool { true }
}
