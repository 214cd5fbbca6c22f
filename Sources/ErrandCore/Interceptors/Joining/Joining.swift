/// Lets equal calls share one exchange: it stands between look-up and storing, so that each call looks up for itself,
/// and what comes is stored once.
///
/// The exchange runs in a task of the client's own. Who waits for it may leave at any moment, and the last one who
/// leaves ends it. A call that cannot join passes, and no task is made for it.
package struct Joining: SelectiveStation {
  private let control: JoinControl
  private let executor: (any TaskExecutor)?

  /// - Parameter executor: Where the exchange goes on once an answer is there; nil for the global one.
  package init(_ control: JoinControl, executor: (any TaskExecutor)? = nil) {
    self.control = control
    self.executor = executor
  }

  /// Where the call may share an exchange, or ends those that others share.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    !context.plan.isStamping && (context.plan.joining.admits(request.method) || !request.method.isSafe)
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let call = joined(request, context, next) else { return try await pass(request, next) }
    try await call.wait()
    return try await conclude(call)
  }

  // What follows stands apart, so that a call that waits for a shared exchange holds no room for it.

  /// Nil for a call that cannot join.
  @inline(never)
  private func joined(_ request: HTTPRequest, _ context: CallContext, _ next: Next) -> JoinedCall? {
    // An interceptor that sends one call several times side by side wants as many exchanges.
    // What a provider sends while it is asked or refreshes must not wait for a call that waits for it; nor must what is
    // sent by an exchange interceptor for a call that has a slot.
    guard context.plan.joining.admits(request.method), request.isComparable, !RefreshControl.isRefreshing,
      !AppScope.isInsideProvider, !HeldSlot.isHeld, context.record.takeSeat()
    else {
      return nil
    }
    return JoinedCall(control, executor, request, context, next)
  }

  @inline(never)
  private func conclude(_ call: JoinedCall) async throws -> HTTPResponse {
    guard let result = call.result else { return try await pass(call.request, call.next) }
    return try result.get()
  }

  @inline(never)
  private func pass(_ request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
    defer { control.close(after: request) }
    return try await next(request)
  }
}
