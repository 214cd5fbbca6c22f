/// Lets equal calls share one exchange. This interceptor runs after the interceptor that looks up the cache, and before
/// the interceptor that stores the response. So each call looks up the cache itself, and the response is stored once.
///
/// The exchange runs in a task of the client. A waiting call may leave the exchange at any moment. The exchange is
/// stopped when the last waiting call has left. A call that cannot share an exchange starts no task.
package struct Joining: SelectiveInterceptor {
  private let control: JoinControl
  private let executor: (any TaskExecutor)?

  /// Makes the interceptor that lets equal calls share one exchange.
  ///
  /// - Parameter executor: The executor on which the exchange continues when a response arrives; nil for the global
  ///   executor.
  package init(_ control: JoinControl, executor: (any TaskExecutor)? = nil) {
    self.control = control
    self.executor = executor
  }

  /// True if the call may share an exchange. Also true for a request with an unsafe method, because this interceptor
  /// then closes the shared exchanges with its origin.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    !context.plan.isPreparing && (context.plan.joining.admits(request.method) || !request.method.isSafe)
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let call = joined(request, context, next) else { return try await pass(request, next) }
    try await call.wait()
    return try await conclude(call)
  }

  // The following functions are separate, so that their local variables do not enlarge the async frame of a call that
  // waits for an exchange.

  /// Prepares the call for a shared exchange. Returns nil if the call cannot share an exchange.
  @inline(never)  // frame size
  private func joined(_ request: HTTPRequest, _ context: CallContext, _ next: Next) -> JoinedCall? {
    // Requests that a credential provider or an exchange interceptor sends do not join a shared exchange. The exchange
    // may wait for a credential of that provider, or for a slot that the call of that interceptor has. Then the request
    // and the exchange would wait for each other forever.
    guard context.plan.joining.admits(request.method), request.isComparable, !RefreshControl.isRefreshing,
      !UserCodeScope.isInsideProvider, !ActiveSlot.isHeld, context.flags.join()
    else {
      return nil
    }
    return JoinedCall(control, executor, request, context, next)
  }

  @inline(never)  // frame size
  private func conclude(_ call: JoinedCall) async throws -> HTTPResponse {
    guard let result = call.result else { return try await pass(call.request, call.next) }
    return try result.get()
  }

  @inline(never)  // frame size
  private func pass(_ request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
    defer { control.close(after: request) }
    return try await next(request)
  }
}
