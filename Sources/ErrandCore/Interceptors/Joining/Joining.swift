/// Lets equal calls share one exchange: it stands between look-up and storing, so that each call looks up for itself,
/// and what comes is stored once.
///
/// The exchange runs in a task of the client's own. Who waits for it may leave at any moment, and the last one who
/// leaves ends it. A call that cannot join passes, and no task is made for it.
package struct Joining: Interceptor {
  private let control: JoinControl
  private let executor: (any TaskExecutor)?

  /// - Parameter executor: Where the exchange goes on once an answer is there; nil for the global one.
  package init(_ control: JoinControl, executor: (any TaskExecutor)? = nil) {
    self.control = control
    self.executor = executor
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let joins = context.plan.joining.admits(request.method)
    if request.method.isSafe { return try await joins ? share(request, context, next) : next(request) }
    // However it ended, the server may have done it: who asks from now on wants to see what was done.
    defer { control.close(request.url.origin) }
    return try await joins ? share(request, context, next) : next(request)
  }

  private func share(_ request: HTTPRequest, _ context: CallContext, _ next: Next) async throws -> HTTPResponse {
    // An interceptor that sends one call several times side by side wants as many exchanges.
    guard context.record.takeSeat() else { return try await next(request) }
    let key = JoinKey(request, context, line: next.line)
    let listener = context.plan.onProgress.map(JoinListener.init)
    var boarding: JoinControl.Table.Boarding?
    do throws(CallState.Stopped) {
      try await context.call.wait { wakeup in
        let priority = context.call.priority
        let boarded = control.join(key, at: request.url.origin, wakeup, priority, context.call.timers)
        boarding = boarded
        heed(context.call, in: boarded.seat, from: priority)
        if let listener { boarded.flight.add(listener) }
        if boarded.opens { begin(boarded, request, context, next) }
      }
    } catch {
      if let boarding { control.leave(boarding.seat) }
      await disembark(boarding, listener, context)
      throw error
    }
    guard let boarding else { return try await next(request) }
    await disembark(boarding, listener, context)
    guard let result = boarding.flight.result(for: boarding.seat) else { return try await next(request) }
    return try result.get()
  }

  /// Changes of the caller's priority count while it waits; also one that came just before it had its seat.
  private func heed(_ call: CallState, in seat: JoinControl.Table.Seat, from priority: CallPriority) {
    call.whenPriorityChanges { [control] _ in control.change(seat, to: call.priority) }
    if call.priority != priority { control.change(seat, to: call.priority) }
  }

  /// The wait is over: nobody is told anything any more, and what was noted of the exchange is the caller's, too.
  private func disembark(
    _ boarding: JoinControl.Table.Boarding?, _ listener: JoinListener?, _ context: CallContext
  ) async {
    guard let boarding else { return context.record.leaveSeat(nil, isJoined: false) }
    context.call.whenPriorityChanges(nil)
    if let listener { await boarding.flight.remove(listener) }
    let isOwn = boarding.flight.belongs(to: boarding.seat)
    context.record.leaveSeat(isOwn ? boarding.flight.record : nil, isJoined: !boarding.opens)
  }

  /// Starts the exchange. Its first steps are made here, before the caller is suspended.
  private func begin(
    _ boarding: JoinControl.Table.Boarding, _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) {
    let (flight, id) = (boarding.flight, boarding.seat.flight)
    let shared = context.shared(flight) { [control] in control.part(id, flight) }
    startTask { [control] in
      do {
        flight.land(.success(try await next(request, in: shared)))
      } catch {
        flight.land(.failure(error))
      }
      control.land(id)
    }
  }

  private func startTask(_ body: @escaping @Sendable () async -> Void) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      Task.immediate(executorPreference: executor) { await body() }
    } else {
      Task(executorPreference: executor) { await body() }
    }
  }
}
