/// Sends a slow read a second time.
struct Hedging {
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
      note(came, start, origin, context)
      return came
    }
    let came = await Result.catching { try await raced(request, after: delay, from: start, context, next).get() }
    note(came, start, origin, context)
    return came
  }

  private func raced(
    _ request: HTTPRequest, after delay: Duration, from start: MonotonicInstant, _ context: CallContext, _ next: Next
  ) async throws -> Result<HTTPResponse, any Error> {
    let race = HedgeRace(context)
    race.begin(request, next)
    if let came = try await race.outcome(by: start.advanced(by: delay)) {
      race.leave()
      return came
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
