import ErrandSupport

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

/// Detects, for the flight record, that an interceptor of the app sends more than one request in one run.
final class UserSends: Sendable {
  private let interceptor: any Interceptor
  private let hasSent = Locked(false)

  init(_ interceptor: any Interceptor) { self.interceptor = interceptor }

  /// Records a request of the interceptor. The first one is no decision.
  func record(in context: CallContext) {
    if !hasSent.setOnce() { context.note(.sentAgain(interceptor: String(describing: type(of: interceptor)))) }
  }
}

/// The rest of the pipeline after an interceptor. The interceptor calls this value to send a request.
public struct Next: Sendable {
  /// The code that calls this value.
  enum Caller {
    case library
    /// An interceptor of the app. The value is nil if the client records no calls.
    case app(UserSends?)
  }

  let pipeline: Pipeline
  let index: Int
  let context: CallContext
  let caller: Caller

  /// Sends the request through the rest of the pipeline and returns the response.
  public func callAsFunction(_ request: HTTPRequest) async throws -> HTTPResponse {
    if case .app = caller { return try await descendForUserCode(request) }
    return try await pipeline.run(request, from: index, context)
  }

  /// Sends the request through the rest of the pipeline with another context, and returns the response.
  package func callAsFunction(_ request: HTTPRequest, in context: CallContext) async throws -> HTTPResponse {
    try await pipeline.run(request, from: index, context)
  }

  /// Sends a request for an interceptor of the app, which may send several requests in a task group and cancel some of
  /// them. Each request has its own ``ErrandHTTP/CallState``, so that a cancelled request does not end the other
  /// requests.
  ///
  /// This function is separate, so that its local variables do not enlarge the async frames of all other interceptors.
  @inline(never)  // frame size
  private func descendForUserCode(_ request: HTTPRequest) async throws -> HTTPResponse {
    let parent = context.call
    try parent.check()
    // A `Next` that was stored and is called after the call has ended would send a request that cannot be cancelled.
    guard parent.isRunning else { throw CallState.Stopped(reason: .cancelled) }
    if case .app(let sends?) = caller { sends.record(in: context) }
    let child = CallState(following: parent, deadline: parent.deadline)
    defer { child.settle() }
    return try await parent.whileAsking({ reason in child.stop(reason) }) {
      try await withTaskCancellationHandler {
        try await pipeline.run(request, from: index, context.with { $0.call = child })
      } onCancel: {
        child.stop(.cancelled)
      }
    }
  }
}
