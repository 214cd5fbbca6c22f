/// Sends a request with a safe method a second time, in parallel, if the response is slow.
struct Hedging {
  /// The shortest interval between two checks whether a request has been sent. The checks are made while the request
  /// waits in the admission queue.
  private static let shortestLook = Duration.milliseconds(10)

  let rule: HedgeRule
  let control: RetryControl

  /// Whether a request may be sent twice in parallel.
  static func suits(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    request.method.isSafe && context.plan.allowsRepeating(request.method) && request.body == nil && context.sink == nil
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
    let result = await Result.catching { try await raced(request, after: delay, from: start, context, next).get() }
    recordLatency(result, context.record.begun ?? start, origin, context)
    return result
  }

  private func raced(
    _ request: HTTPRequest, after delay: Duration, from start: MonotonicInstant, _ context: CallContext, _ next: Next
  ) async throws -> Result<HTTPResponse, any Error> {
    let race = HedgeRace(context)
    race.begin(request, next)
    var moment = start.advanced(by: delay)
    while true {
      if let result = try await race.outcome(by: moment) {
        race.leave()
        return result
      }
      // The time that a copy of the request waits in the admission queue does not count as response time.
      let now = context.call.timers.now
      let due = race.waits ? now.advanced(by: max(delay, Self.shortestLook)) : race.begun?.advanced(by: delay) ?? now
      if due <= now { break }
      moment = due
    }
    if control.pay(RetryBudget.price, at: request.url.origin) {
      context.record.retried(RetryMetrics(reason: .slow, delay: delay))
      context.plan.log?.info("no response within \(delay); sending the request a second time in parallel")
      race.begin(request, next)
    }
    while true {
      guard let result = try await race.outcome(by: nil) else { continue }
      race.leave()
      return result
    }
  }

  /// Records the response time if the hedging rule depends on response times.
  private func recordLatency(
    _ result: Result<HTTPResponse, any Error>, _ start: MonotonicInstant, _ origin: HTTPURL.Origin,
    _ context: CallContext
  ) {
    guard case .share = rule.kind, case .success = result else { return }
    control.recordLatency(start.duration(to: context.call.timers.now), of: origin)
  }
}
