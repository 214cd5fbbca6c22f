/// Lets equal calls share one exchange. It runs between the cache lookup and the storing of the response. So each call
/// looks up the cache itself, and the response is stored once.
///
/// The exchange runs in a task of the client. A waiting call may leave at any moment. The exchange is stopped when the
/// last call has left. For a call that cannot share an exchange no task is started.
package struct Joining: SelectiveInterceptor {
  private let control: JoinControl
  private let executor: (any TaskExecutor)?

  /// - Parameter executor: The executor on which the exchange continues when a response arrives; nil for the global
  ///   executor.
  package init(_ control: JoinControl, executor: (any TaskExecutor)? = nil) {
    self.control = control
    self.executor = executor
  }

  /// True if the call may share an exchange. Also true for an unsafe method, after which later calls do not join older
  /// exchanges.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    !context.plan.isStamping && (context.plan.joining.admits(request.method) || !request.method.isSafe)
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let call = joined(request, context, next) else { return try await pass(request, next) }
    try await call.wait()
    return try await conclude(call)
  }

  // These functions are separate so that their locals do not grow the async frame of a call that waits for an exchange.

  /// Prepares the call for a shared exchange; nil if the call cannot share one.
  @inline(never)  // frame size
  private func joined(_ request: HTTPRequest, _ context: CallContext, _ next: Next) -> JoinedCall? {
    // Requests that a provider sends while it supplies or refreshes a credential must not wait for a call that waits
    // for the provider. Requests that an exchange interceptor sends must not wait for a call that waits for the slot
    // that the interceptor's own call has.
    guard context.plan.joining.admits(request.method), request.isComparable, !RefreshControl.isRefreshing,
      !UserCodeScope.isInsideProvider, !HeldSlot.isHeld, context.flags.join()
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
