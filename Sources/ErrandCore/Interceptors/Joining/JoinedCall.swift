/// One call that uses a shared exchange: it joins, waits, and leaves.
///
/// The type is a class, so that a waiting call keeps only a reference in its async frame.
final class JoinedCall: @unchecked Sendable {  // `boarding` and `wakeup` are written before a stop can read them
  private let control: JoinControl
  private let executor: (any TaskExecutor)?
  /// The key of the shared exchange. The key also contains the request and the context, so that both are stored only
  /// once.
  private let key: JoinKey
  let next: Next
  private let listener: JoinListener?
  private var boarding: JoinControl.Table.Membership?
  private var wakeup: Wakeup?

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
    listener = context.onProgress.map(JoinListener.init)
  }

  var request: HTTPRequest { key.request }

  private var context: CallContext { key.context }

  /// The result of the exchange; nil if this call must continue alone.
  var result: Result<HTTPResponse, any Error>? { boarding.flatMap { $0.flight.result(for: $0.seat) } }

  /// Waits until the exchange has ended. If the call is stopped, it leaves the shared exchange at once, even if the
  /// caller's executor is busy. So no later call joins an exchange that no running call waits for.
  func wait() async throws(CallState.Stopped) {
    do throws(CallState.Stopped) {
      try await context.call.wait(asking: { [self] in giveUp($0) }) { takeSeat($0) }
    } catch {
      await leaveFlight()
      throw error
    }
    await leaveFlight()
  }

  /// Joins a shared exchange. Starts the exchange if there was none to join.
  private func takeSeat(_ wakeup: Wakeup) {
    let priority = context.call.priority
    let boarded = control.join(key, at: request.url.origin, wakeup, priority, context.call.timers, listener)
    boarding = boarded
    self.wakeup = wakeup
    followPriority(context.call, in: boarded.seat, from: priority)
    if context.plan.sendsAgain { boarded.flight.serve(boarded.seat, until: context.call.deadline) }
    if boarded.opens { begin(boarded) }
  }

  private func giveUp(_ reason: CallState.StopReason) {
    if let boarding { control.leave(boarding.seat, reason, request) }
    wakeup?.resume()
  }

  /// Applies changes of the caller's priority to the shared exchange while the caller waits, including a change that
  /// happened just before the caller joined.
  private func followPriority(_ call: CallState, in seat: JoinControl.Table.Seat, from priority: CallPriority) {
    call.whenPriorityChanges { [control] _ in control.change(seat, to: call.priority) }
    if call.priority != priority { control.change(seat, to: call.priority) }
  }

  /// Leaves the shared exchange after the wait. From then on no progress is reported. The record of the exchange is
  /// added to the record of the call.
  @inline(never)  // frame size
  private func leaveFlight() async {
    let now = context.call.timers.now
    defer { context.flags.leave() }
    guard let boarding else { return }
    context.call.whenPriorityChanges(nil)
    if let listener { await boarding.flight.remove(listener) }
    guard boarding.flight.belongs(to: boarding.seat) else { return }
    context.record.take(shared: boarding.flight.record, isJoined: !boarding.opens, at: now)
    context.flags.inherit(from: boarding.flight.flags)
  }

  /// Starts the exchange. On systems that have `Task.immediate`, it runs up to its first suspension before this method
  /// returns.
  private func begin(_ boarding: JoinControl.Table.Membership) {
    let (flight, id) = (boarding.flight, boarding.seat.flight)
    flight.flags.inherit(from: context.flags)
    let shared = context.with { [control] in
      ($0.call, $0.record, $0.flags) = (flight.state, flight.record, flight.flags)
      $0.onProgress = { flight.tell($0) }
      $0.onUnowned = { control.part(id, flight) }
      $0.sharedTimeLeft = { flight.timeLeft }
      ($0.log, $0.replay) = (nil, nil)
    }
    startTask { [control, key, next] in
      flight.land(await Self.exchange(key.request, shared, next))
      control.close(after: key.request)
      control.land(id)
    }
  }

  private static func exchange(
    _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async -> Result<HTTPResponse, any Error> {
    do {
      return .success(try await next(request, in: context))
    } catch {
      return .failure(error)
    }
  }

  /// Starts a task. The closure is passed on unchanged, because a second closure around it would stay in memory during
  /// the exchange.
  private func startTask(_ body: @escaping @isolated(any) @Sendable () async -> Void) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      Task.immediate(executorPreference: executor, operation: body)
    } else {
      Task(executorPreference: executor, operation: body)
    }
  }
}
