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
    guard context.plan.joining.admits(request.method) else { return nil }
    if let obstacle = Self.obstacle(to: request) {
      context.note(.notJoined(obstacle))
      return nil
    }
    guard context.flags.join() else { return nil }
    return JoinedCall(control, executor, request, context, next)
  }

  private static func obstacle(to request: HTTPRequest) -> CallDecision.JoinObstacle? {
    if !request.isComparable { return .streamedBody }
    if RefreshControl.isRefreshing || UserCodeScope.isInsideProvider { return .insideProvider }
    return ActiveSlot.isHeld ? .insideExchange : nil
  }

  @inline(never)  // frame size
  private func conclude(_ call: JoinedCall) async throws -> HTTPResponse {
    guard let result = call.result else {
      call.context.note(.notJoined(.unknownAccount))
      return try await pass(call.request, call.next)
    }
    return try result.get()
  }

  @inline(never)  // frame size
  private func pass(_ request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
    defer { control.close(after: request) }
    return try await next(request)
  }
}

/// One call that uses a shared exchange. The call joins the exchange, waits for its result, and leaves the exchange.
///
/// The type is a class, so that a waiting call keeps only a reference in its async frame.
final class JoinedCall: @unchecked Sendable {  // `membership` and `wakeup` are written before a stop can read them
  private let control: JoinControl
  private let executor: (any TaskExecutor)?
  /// The key of the shared exchange. The key also contains the request and the context, so that both are stored only
  /// once.
  private let key: JoinKey
  let next: Next
  private let gate: ReportGate?
  private var membership: JoinControl.Table.Membership?
  private var wakeup: Wakeup?

  /// Makes the object for a call that has not joined a shared exchange yet.
  ///
  /// - Parameter executor: The executor on which the exchange continues when a response arrives; nil for the global
  ///   executor.
  init(
    _ control: JoinControl, _ executor: (any TaskExecutor)?, _ request: HTTPRequest, _ context: CallContext,
    _ next: Next
  ) {
    self.control = control
    self.executor = executor
    key = JoinKey(request, context, pipeline: next.pipeline)
    self.next = next
    gate = ReportGate(context)
  }

  var request: HTTPRequest { key.request }

  var context: CallContext { key.context }

  /// The result of the shared exchange; nil if this call must send its request separately.
  var result: Result<HTTPResponse, any Error>? { membership.flatMap { $0.exchange.result(for: $0.member) } }

  /// Waits until the shared exchange has ended. If the call is stopped, the call leaves the exchange at once, even if
  /// the caller's executor is busy. So no later call joins an exchange that no running call waits for.
  func wait() async throws(CallState.Stopped) {
    do throws(CallState.Stopped) {
      try await context.call.wait(asking: { [self] in giveUp($0) }) { join($0) }
    } catch {
      await leaveExchange()
      throw error
    }
    await leaveExchange()
  }

  /// Joins a shared exchange. Starts a new exchange if no equal call has an open shared exchange.
  private func join(_ wakeup: Wakeup) {
    let priority = context.call.priority
    let joined = control.join(key, at: request.url.origin, wakeup, priority, context.call.timers, gate)
    membership = joined
    self.wakeup = wakeup
    followPriority(context.call, in: joined.member, from: priority)
    if joined.startsExchange {
      begin(joined)
    } else {
      context.note(.joined(call: joined.exchange.starter))
    }
  }

  private func giveUp(_ reason: CallState.StopReason) {
    if let membership { control.leave(membership.member, reason, request) }
    wakeup?.resume()
  }

  /// Applies changes of the caller's priority to the shared exchange while the caller waits, including a change that
  /// happened just before the caller joined.
  private func followPriority(_ call: CallState, in member: JoinControl.Table.MemberID, from priority: CallPriority) {
    call.whenPriorityChanges { [control] _ in control.change(member, to: call.priority) }
    if call.priority != priority { control.change(member, to: call.priority) }
  }

  /// Leaves the shared exchange after the wait, so that no further progress is reported to the call. The ``CallRecord``
  /// of the exchange is added to the record of the call.
  @inline(never)  // frame size
  private func leaveExchange() async {
    let now = context.call.timers.now
    defer { context.flags.leave() }
    guard let membership else { return }
    context.call.whenPriorityChanges(nil)
    if let gate { await membership.exchange.remove(gate) }
    guard membership.exchange.belongs(to: membership.member) else { return }
    context.record.take(shared: membership.exchange.record, isJoined: !membership.startsExchange, at: now)
    context.flags.inherit(from: membership.exchange.flags)
  }

  /// Starts the exchange. On systems that have `Task.immediate`, the exchange runs up to its first suspension before
  /// this method returns.
  private func begin(_ membership: JoinControl.Table.Membership) {
    let (exchange, id) = (membership.exchange, membership.member.exchange)
    exchange.flags.inherit(from: context.flags)
    let shared = context.with { [control] in
      ($0.call, $0.record, $0.flags) = (exchange.state, exchange.record, exchange.flags)
      $0.onProgress = { exchange.report($0) }
      $0.onInformational = { exchange.report($0) }
      $0.onUnknownAccount = { control.split(id, exchange) }
      $0.sharedTimeLeft = { exchange.timeLeft }
      $0.expireSharers = { control.expireCalls(of: id, exchange, at: $0) }
      ($0.log, $0.replay) = (nil, nil)
    }
    startTask { [control, key, next] in
      exchange.finish(await Self.send(key.request, shared, next))
      control.close(after: key.request)
      control.finish(id)
    }
  }

  private static func send(
    _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async -> Result<HTTPResponse, any Error> {
    do {
      return .success(try await next(request, in: context))
    } catch {
      return .failure(error)
    }
  }

  /// Starts a task that runs `body`. The closure `body` itself is the operation of the task. A new closure that calls
  /// `body` would need additional memory during the exchange.
  private func startTask(_ body: @escaping @isolated(any) @Sendable () async -> Void) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      Task.immediate(executorPreference: executor, operation: body)
    } else {
      Task(executorPreference: executor, operation: body)
    }
  }
}
