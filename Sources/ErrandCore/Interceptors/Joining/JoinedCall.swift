/// One call's way through a shared exchange: it takes a seat, waits, and leaves.
///
/// An object, so that a call that waits keeps a reference and no room for all this.
final class JoinedCall: @unchecked Sendable {  // `boarding` and `wakeup` are written before a stop can ask for them
  private let control: JoinControl
  private let executor: (any TaskExecutor)?
  /// It holds request and context, so that they are held once.
  private let key: JoinKey
  let next: Next
  private let listener: JoinListener?
  private var boarding: JoinControl.Table.Boarding?
  private var wakeup: Wakeup?

  /// - Parameter executor: Where the exchange goes on once an answer is there; nil for the global one.
  init(
    _ control: JoinControl, _ executor: (any TaskExecutor)?, _ request: HTTPRequest, _ context: CallContext,
    _ next: Next
  ) {
    self.control = control
    self.executor = executor
    key = JoinKey(request, context, line: next.line)
    self.next = next
    listener = context.onProgress.map(JoinListener.init)
  }

  var request: HTTPRequest { key.request }

  private var context: CallContext { key.context }

  /// How the exchange ended; nil where this call has to go on alone.
  var result: Result<HTTPResponse, any Error>? { boarding.flatMap { $0.flight.result(for: $0.seat) } }

  /// Waits until the exchange has ended. A stop of the call ends the wait at once, and gives the seat up before the
  /// caller's executor has time for it: who asks for the same from then on shares nothing with a call that is over.
  func wait() async throws(CallState.Stopped) {
    do throws(CallState.Stopped) {
      try await context.call.wait(asking: { [self] in giveUp($0) }) { board($0) }
    } catch {
      await disembark()
      throw error
    }
    await disembark()
  }

  /// Takes a seat, and starts the exchange where nobody else has.
  private func board(_ wakeup: Wakeup) {
    let priority = context.call.priority
    let boarded = control.join(key, at: request.url.origin, wakeup, priority, context.call.timers, listener)
    boarding = boarded
    self.wakeup = wakeup
    heed(context.call, in: boarded.seat, from: priority)
    if context.plan.sendsAgain { boarded.flight.serve(boarded.seat, until: context.call.deadline) }
    if boarded.opens { begin(boarded) }
  }

  private func giveUp(_ reason: CallState.StopReason) {
    if let boarding { control.leave(boarding.seat, reason, request) }
    wakeup?.resume()
  }

  /// Changes of the caller's priority count while it waits; also one that came just before it had its seat.
  private func heed(_ call: CallState, in seat: JoinControl.Table.Seat, from priority: CallPriority) {
    call.whenPriorityChanges { [control] _ in control.change(seat, to: call.priority) }
    if call.priority != priority { control.change(seat, to: call.priority) }
  }

  /// The wait is over: nobody is told anything any more, and what was noted of the exchange is the caller's, too.
  @inline(never)
  private func disembark() async {
    let now = context.call.timers.now
    guard let boarding else { return context.record.leaveSeat(nil, isJoined: false, at: now) }
    context.call.whenPriorityChanges(nil)
    if let listener { await boarding.flight.remove(listener) }
    let isOwn = boarding.flight.belongs(to: boarding.seat)
    context.record.leaveSeat(isOwn ? boarding.flight.record : nil, isJoined: !boarding.opens, at: now)
  }

  /// Starts the exchange. Its first steps are made here, before the caller is suspended.
  private func begin(_ boarding: JoinControl.Table.Boarding) {
    let (flight, id) = (boarding.flight, boarding.seat.flight)
    flight.record.goesOn(from: context.record)
    let shared = context.shared(flight) { [control] in control.part(id, flight) }
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

  /// Hands the closure on as it is: one around it would be held while the exchange is under way.
  private func startTask(_ body: @escaping @isolated(any) @Sendable () async -> Void) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      Task.immediate(executorPreference: executor, operation: body)
    } else {
      Task(executorPreference: executor, operation: body)
    }
  }
}
