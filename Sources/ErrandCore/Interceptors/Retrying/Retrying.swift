/// Tries an exchange again where that may help and can do no harm.
package struct Retrying: Interceptor {
  private let control: RetryControl
  private let chance: @Sendable () -> Double

  /// - Parameters:
  ///   - control: The budgets.
  ///   - chance: Where between nothing and the longest wait the next one lies, from 0 to 1.
  package init(_ control: RetryControl, chance: @escaping @Sendable () -> Double = { .random(in: 0...1) }) {
    self.control = control
    self.chance = chance
  }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let policy = context.plan.retries else { return try await next(request) }
    return try await retried(request, policy, context, next)
  }

  /// Apart, so that a call that is not tried again holds no room for it.
  @inline(never)
  private func retried(
    _ request: HTTPRequest, _ policy: RetryPolicy, _ context: CallContext, _ next: Next
  ) async throws -> HTTPResponse {
    let sink = context.sink.map(WatchedSink.init)
    let context = sink.map { context.with(sink: $0, onProgress: context.onProgress) } ?? context
    var attempt = 1
    var paid = 0
    while true {
      let came: Result<HTTPResponse, any Error>
      do {
        came = .success(try await next(request, in: context))
      } catch {
        came = .failure(error)
      }
      guard let result = Self.result(came) else { return try came.get() }
      let question = question(policy, request, context, attempt, isDelivered: sink?.hasBegun ?? false)
      guard case .retry(let reason, let delay, let cost) = RetryDecision.decide(result, question),
        control.pay(cost, at: request.url.origin)
      else {
        if case .status(let status, _) = result, status < 500, status != 429 {
          control.succeed(paid: paid, at: request.url.origin)
        }
        return try came.get()
      }
      attempt += 1
      paid = cost
      context.record.retried(RetryMetrics(reason: reason, delay: delay))
      context.plan.log?.info("attempt \(attempt) of \(policy.attempts) in \(delay): \(reason)")
      try await context.call.sleep(until: context.call.timers.now.advanced(by: delay))
    }
  }

  /// What is decided on; nil for an error that is none of the line's.
  private static func result(_ came: Result<HTTPResponse, any Error>) -> RetryDecision.Result? {
    switch came {
    case .success(let response): .status(response.status, retryAfter: RetryAfter.delay(in: response.fields))
    case .failure(let error): (error as? TransportFailure).map(RetryDecision.Result.failure)
    }
  }

  private func question(
    _ policy: RetryPolicy, _ request: HTTPRequest, _ context: CallContext, _ attempt: Int, isDelivered: Bool
  ) -> RetryDecision.Question {
    RetryDecision.Question(
      policy: policy, isIdempotent: context.plan.idempotency.allows(request.method),
      isReplayable: request.body?.isReplayable ?? true, isDelivered: isDelivered,
      hasStandIn: context.note?.hasStandIn ?? false, attempt: attempt, remaining: context.timeLeft,
      chance: chance())
  }
}
