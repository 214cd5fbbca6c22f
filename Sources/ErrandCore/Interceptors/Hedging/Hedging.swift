import ErrandSupport

/// Sends a request with a safe method a second time, in parallel, if the response is slow.
struct Hedging {
  /// The shortest interval between two checks whether a request has been sent. The checks are made until the request is
  /// sent.
  private static let shortestLook = Duration.milliseconds(10)

  let rule: HedgeRule
  let control: RetryControl

  /// Whether a request may be sent twice in parallel.
  static func suits(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    request.method.isSafe && context.plan.sending.idempotency.allows(request.method) && request.body == nil
      && context.sink == nil
  }

  func send(
    _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async -> Result<HTTPResponse, any Error> {
    let origin = request.url.origin
    let start = context.call.timers.now
    guard let delay = rule.delay(control.latencies(of: origin)) else {
      let result = await Result.catching { try await next(request, in: context) }
      recordLatency(result, context.record.begun ?? start, origin, context)
      return result
    }
    let race = HedgeRace(context)
    let result = await Result.catching {
      try await raced(race, request, after: delay, from: start, context, next).get()
    }
    // The response time begins with the first copy, even if the second copy got the response. If it began with the
    // second copy, the slowest requests would be recorded as fast, and more and more requests would be sent twice.
    recordLatency(result, race.begun ?? context.record.begun ?? start, origin, context)
    return result
  }

  private func raced(
    _ race: HedgeRace, _ request: HTTPRequest, after delay: Duration, from start: MonotonicInstant,
    _ context: CallContext, _ next: Next
  ) async throws -> Result<HTTPResponse, any Error> {
    race.begin(request, next)
    var moment = start.advanced(by: delay)
    while true {
      if let result = try await race.outcome(by: moment) {
        await race.leave()
        return result
      }
      // The time before the first copy is sent does not count as response time. It may wait for a place in the
      // admission queue or for a credential.
      let now = context.call.timers.now
      let begun = race.begun ?? (delay == .zero ? now : nil)
      if let begun, !race.waits {
        moment = begun.advanced(by: delay)
      } else {
        moment = now.advanced(by: max(delay, Self.shortestLook))
      }
      if moment <= now { break }
    }
    if control.pay(RetryBudget.price, at: request.url.origin) {
      context.record.retried(RetryMetrics(reason: .slow, delay: delay))
      context.plan.log?.info("no response within \(delay); sending the request a second time in parallel")
      context.note(.hedged(after: delay))
      race.begin(request, next)
    } else {
      context.note(.notHedged(after: delay, request.url.origin))
    }
    while true {
      guard let result = try await race.outcome(by: nil) else { continue }
      await race.leave()
      return result
    }
  }

  /// Records the response time if the hedging rule depends on response times. The time of an overload or a request
  /// time-out does not count: a busy server rejects requests fast, and would then get more of them twice.
  private func recordLatency(
    _ result: Result<HTTPResponse, any Error>, _ start: MonotonicInstant, _ origin: HTTPURL.Origin,
    _ context: CallContext
  ) {
    guard case .share = rule.kind, result.endsRace else { return }
    control.recordLatency(start.duration(to: context.call.timers.now), of: origin)
  }
}

/// Sends one request once or twice, and uses the first response. Each copy of the request has its own
/// ``ErrandHTTP/CallState`` and ``CallRecord``, and runs in a task of the client. The call waits for the outcome. If
/// the call is stopped, the copies are stopped, too.
final class HedgeRace: Sendable {
  private struct Copy: Sendable {
    let state: CallState
    let record: CallRecord
    let flags = CallFlags()
  }

  /// A copy of the request that has ended, and its result.
  private struct Ending: Sendable {
    let copy: Copy
    let result: Result<HTTPResponse, any Error>
  }

  private struct Storage: Sendable {
    var copies: [Copy] = []
    var failure: Ending?
    var ended = 0
    var winner: Ending?
    var waiter: Wakeup?
  }

  private let storage = Locked(Storage())
  private let context: CallContext
  /// Reports to the call until the end of the race; nil if the call receives no reports. Only the first copy reports,
  /// because the progress of two copies would be confusing. A copy that loses may run for some time after the race.
  private let gate: ReportGate?

  init(_ context: CallContext) {
    self.context = context
    gate = ReportGate(context)
  }

  /// Sends a copy of the request. Does nothing if a copy has already won the race, or if all copies have failed.
  func begin(_ request: HTTPRequest, _ next: Next) {
    let copy = Copy(
      state: CallState(following: context.call, deadline: context.call.deadline),
      record: context.record.forExchange)
    copy.flags.inherit(from: context.flags)
    let isFirst: Bool? = storage.withLock { storage in
      if storage.winner != nil { return nil }
      storage.copies.append(copy)
      return storage.copies.count == 1
    }
    guard let isFirst else { return copy.state.settle() }
    let own = context.with {
      ($0.call, $0.record, $0.flags) = (copy.state, copy.record, copy.flags)
      ($0.onProgress, $0.onInformational) = (nil, nil)
      if isFirst, let gate {
        if context.onProgress != nil { $0.onProgress = { gate.report($0) } }
        if context.onInformational != nil { $0.onInformational = { gate.report($0) } }
      }
      ($0.log, $0.replay) = (nil, nil)
    }
    Task {
      let result = await Result.catching { try await next(request, in: own) }
      copy.state.settle()
      end(Ending(copy: copy, result: result))
    }
  }

  /// The moment at which the first copy of the request was passed to the transport; nil before that moment.
  var begun: MonotonicInstant? { storage.withLock { $0.copies.first?.record }?.begun }

  /// Whether the first copy of the request waits in the admission queue.
  var waits: Bool { storage.withLock { $0.copies.first?.record }?.waits == true }

  /// Records the result of a copy of the request. A failure becomes the final result only if no other copy is running.
  /// If all copies fail, the failure with the highest rank is the final result.
  private func end(_ ending: Ending) {
    storage.withLock { storage -> Wakeup? in
      storage.ended += 1
      if ending.result.endsRace {
        storage.winner = storage.winner ?? ending
      } else {
        let isBetter = storage.failure.map { $0.result.failureRank < ending.result.failureRank } ?? true
        if isBetter { storage.failure = ending }
        if storage.ended == storage.copies.count { storage.winner = storage.winner ?? storage.failure }
      }
      guard storage.winner != nil else { return nil }
      defer { storage.waiter = nil }
      return storage.waiter
    }?.resume()
  }

  /// Waits for the final result of the copies of the request. Returns nil if there is no final result by the given
  /// moment.
  func outcome(by moment: MonotonicInstant?) async throws -> Result<HTTPResponse, any Error>? {
    let timers = context.call.timers
    var token: TimerToken?
    defer { if let token { timers.cancel(token) } }
    do {
      try await context.call.wait { wakeup in
        if let moment { token = timers.schedule(at: moment) { wakeup.resume() } }
        let isOver = storage.withLock { storage in
          storage.waiter = wakeup
          return storage.winner != nil
        }
        if isOver { wakeup.resume() }
      }
    } catch {
      await leave()
      throw error
    }
    return storage.withLock { $0.winner }?.result
  }

  /// Ends the race between the copies of the request. Stops the copies that still run, and adds the ``CallRecord`` of
  /// each copy to the record of the call. When this method returns, no report to the call is running and no report
  /// follows.
  func leave() async {
    let now = context.call.timers.now
    let (copies, winner) = storage.withLock { ($0.copies, $0.winner) }
    for copy in copies {
      copy.state.stop(context.call.stopReasonForChildren)
      context.record.take(copy.record, by: now)
      context.flags.inherit(from: copy.flags)
    }
    // If no copy has a result of a server, for example after the deadline, the start of the first copy counts.
    let shown = winner.flatMap { $0.result.failureRank > 0 ? $0.copy : nil } ?? copies.first
    let hasFirstByte = copies.contains { $0.record.hasFirstByte }
    if let shown { context.record.takeLastExchange(of: shown.record, hasFirstByte: hasFirstByte) }
    await gate?.close()
  }
}

extension Result<HTTPResponse, any Error> {
  /// True if this result of a copy is used as the response to the request. False after an overload (429, 5xx) or a
  /// request time-out (408), because the other copy of the request may still succeed.
  fileprivate var endsRace: Bool {
    guard case .success(let response) = self else { return false }
    return response.status < 500 && response.status != 429 && response.status != 408
  }

  /// The rank of a failure among the copies. The failure with the highest rank is the result.
  ///
  /// A response has the highest rank, then a failure of a copy that the server may have received, then a failure of a
  /// copy that was certainly not sent. Any other error has the lowest rank, for example the error of a copy that was
  /// not sent because the admission queue was full. It says nothing about the server, and is not retried.
  var failureRank: Int {
    switch RetryDecision.Result(self) {
    case .status: 3
    case .failure(let failure): failure.isCertainlyNotSent ? 1 : 2
    case nil: 0
    }
  }
}
