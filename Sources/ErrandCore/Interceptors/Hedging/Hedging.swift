/// Sends a slow read a second time.
struct Hedging {
  /// How often it is looked, at the most, whether a request that waits has gone out.
  private static let shortestLook = Duration.milliseconds(10)

  let rule: HedgeRule
  let control: RetryControl

  /// Whether a request may be on its way twice.
  static func suits(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    request.method.isSafe && context.plan.allowsRepeating(request.method) && request.body == nil && context.sink == nil
  }

  func send(
    _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async -> Result<HTTPResponse, any Error> {
    let origin = request.url.origin
    let start = context.call.timers.now
    guard let delay = rule.delay(control.latencies(of: origin)) else {
      let came = await Result.catching { try await next(request, in: context) }
      note(came, context.record.begun ?? start, origin, context)
      return came
    }
    let came = await Result.catching { try await raced(request, after: delay, from: start, context, next).get() }
    note(came, context.record.begun ?? start, origin, context)
    return came
  }

  private func raced(
    _ request: HTTPRequest, after delay: Duration, from start: MonotonicInstant, _ context: CallContext, _ next: Next
  ) async throws -> Result<HTTPResponse, any Error> {
    let race = HedgeRace(context)
    race.begin(request, next)
    var moment = start.advanced(by: delay)
    while true {
      if let came = try await race.outcome(by: moment) {
        race.leave()
        return came
      }
      // A copy that waits for its turn is not slow.
      let now = context.call.timers.now
      let due = race.waits ? now.advanced(by: max(delay, Self.shortestLook)) : race.begun?.advanced(by: delay) ?? now
      if due <= now { break }
      moment = due
    }
    if control.pay(RetryBudget.price, at: request.url.origin) {
      context.record.retried(RetryMetrics(reason: .slow, delay: delay))
      context.plan.log?.info("no answer within \(delay): sending a second time")
      race.begin(request, next)
    }
    while true {
      guard let came = try await race.outcome(by: nil) else { continue }
      race.leave()
      return came
    }
  }

  /// The times of answers are kept where the rule asks for them.
  private func note(
    _ came: Result<HTTPResponse, any Error>, _ start: MonotonicInstant, _ origin: HTTPURL.Origin,
    _ context: CallContext
  ) {
    guard case .share = rule.kind, case .success = came else { return }
    control.note(start.duration(to: context.call.timers.now), of: origin)
  }
}
