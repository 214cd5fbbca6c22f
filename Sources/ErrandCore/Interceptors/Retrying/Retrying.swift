import ErrandSupport

/// Tries a failed exchange again if a new attempt may succeed and repeating the request is safe.
package struct Retrying: SelectiveInterceptor {
  private let control: RetryControl
  private let chance: @Sendable () -> Double

  /// Makes the interceptor that repeats failed exchanges.
  ///
  /// - Parameters:
  ///   - control: The retry budgets of the origins.
  ///   - chance: A closure that returns a random number from 0 to 1. The call waits this fraction of the maximum delay.
  package init(_ control: RetryControl, chance: @escaping @Sendable () -> Double = { .random(in: 0...1) }) {
    self.control = control
    self.chance = chance
  }

  /// Whether the request may be sent more than once, to the same server or to a fallback server.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    context.plan.sending.sendsAgain && !context.plan.isPreparing
  }

  // Some of the following functions are separate, so that their local variables do not enlarge the async frame of a
  // call that waits in an attempt.

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let sink = context.sink.map(WatchedSink.init)
    let context = sink.map { sink in context.with { $0.sink = sink } } ?? context
    var state = Attempts()
    while true {
      let last = await attempted(request, context, sink, &state.skipped, next)
      guard let delay = delay(after: last, &state, request, context, sink) else {
        return try outcome(last, state).get()
      }
      try await context.call.sleep(until: context.call.timers.now.advanced(by: delay))
    }
  }

  /// The attempts of one call so far: their number, the cost of the last attempt, and the servers to skip.
  private struct Attempts {
    var number = 1
    /// The number of tokens that the last attempt took from the retry budget.
    var lastCost = 0
    var skipped = SkippedServers()
    /// The outcome of the attempt before the last one; nil if there was only one. In a box, so that it does not enlarge
    /// the async frame.
    var earlier: Boxed<Result<HTTPResponse, any Error>>?
  }

  /// The outcome of the call. If the client itself refused the last attempt, nothing was sent in it, so the outcome of
  /// the attempt before is more useful to the caller.
  @inline(never)  // frame size
  private func outcome(_ last: RetryAttempt, _ attempts: Attempts) -> Result<HTTPResponse, any Error> {
    guard case .failure(let error) = last.outcome, APIError.isRefusal(error), let earlier = attempts.earlier else {
      return last.outcome
    }
    return earlier.value
  }

  /// Takes the cost of one more attempt from the retry budget, and returns the delay before the attempt. Returns nil if
  /// no attempt follows.
  @inline(never)  // frame size
  private func delay(
    after last: RetryAttempt, _ attempts: inout Attempts, _ request: HTTPRequest, _ context: CallContext,
    _ sink: WatchedSink?
  ) -> Duration? {
    guard let result = last.result else { return nil }
    let policy = context.plan.sending.retries
    var input = input(policy, request, context, attempts.number, isDelivered: sink?.hasBegun ?? false)
    input.hasFallbackResponse = context.lookup?.hasFallbackResponse(after: result.status, in: context) ?? false
    let decision = RetryDecision.decide(result, input)
    guard case .retry(let reason, let delay, let cost) = decision,
      !policy.usesBudget || control.pay(cost, at: request.url.origin)
    else {
      note(decision, after: result, request, context)
      if case .status(let status, _) = result, status < 500, status != 429, status != 408,
        !policy.statuses.contains(status)
      {
        control.succeed(paid: attempts.lastCost, at: request.url.origin, servedBy: last.origin)
      }
      return nil
    }
    attempts.number += 1
    attempts.lastCost = cost
    attempts.earlier = Boxed(last.outcome)
    context.record.retried(
      RetryMetrics(reason: reason, delay: delay, isCertainlyNotSent: result.isCertainlyNotSent))
    context.note(.retried(reason, attempt: attempts.number, of: policy.attempts, after: delay))
    context.plan.log?.info(
      "the attempt failed (\(reason)); attempt \(attempts.number) of \(policy.attempts) starts in \(delay)")
    return delay
  }

  /// Records why no further attempt is made. The result of a successful attempt is not recorded.
  private func note(
    _ decision: RetryDecision, after result: RetryDecision.Result, _ request: HTTPRequest, _ context: CallContext
  ) {
    if case .status(let status, _) = result, status < 400 { return }
    let policy = context.plan.sending.retries
    if !policy.sendsAgain, !RetryDecision.mayHelp(after: result, policy) { return }
    // A decision for another attempt was not carried out, because the retry budget is used up.
    var obstacle = CallDecision.RetryObstacle.budget(request.url.origin)
    if case .deliver(let found) = decision { obstacle = found }
    if !policy.sendsAgain { obstacle = .policy }
    context.note(.notRetried(RetryDecision.reason(for: result), request.method, because: obstacle))
  }

  /// Makes one attempt. If the client has fallback servers, the attempt sends the request to one server after another
  /// until a server responds.
  private func attempted(
    _ request: HTTPRequest, _ context: CallContext, _ sink: WatchedSink?, _ skipped: inout SkippedServers, _ next: Next
  ) async -> RetryAttempt {
    if context.plan.sending.hosts != nil { return await attemptedAtAll(request, context, sink, &skipped, next) }
    return RetryAttempt(await sent(request, context, next), at: request.url.origin)
  }

  @inline(never)  // frame size
  private func attemptedAtAll(
    _ request: HTTPRequest, _ context: CallContext, _ sink: WatchedSink?, _ skipped: inout SkippedServers, _ next: Next
  ) async -> RetryAttempt {
    guard let hosts = context.plan.sending.hosts, let rest = hosts.rest(of: request.url) else {
      return RetryAttempt(await sent(request, context, next), at: request.url.origin)
    }
    let failingOver = FailingOver(hosts: hosts, control: control, context: context) { request in
      input(FailingOver.policy, request, context, 1, isDelivered: sink?.hasBegun ?? false)
    }
    return await failingOver.send(request, below: rest, skipped: &skipped) { await sent($0, context, next) }
  }

  /// Sends the request once, or twice in parallel if the policy allows hedging.
  private func sent(
    _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async -> Result<HTTPResponse, any Error> {
    if let hedging = hedging(request, context) { return await hedging.send(request, context, next) }
    return await Result.catching { try await next(request, in: context) }
  }

  /// The object that sends the request a second time if the response is slow; nil if the request must be sent only
  /// once.
  @inline(never)  // frame size
  private func hedging(_ request: HTTPRequest, _ context: CallContext) -> Hedging? {
    guard let rule = context.plan.sending.retries.hedging, Hedging.suits(request, context) else { return nil }
    return Hedging(rule: rule, control: control)
  }

  /// The data for a decision that does not depend on stored responses. The other servers are tried even if a stored
  /// response may be served, because a response from a server is better.
  private func input(
    _ policy: RetryPolicy, _ request: HTTPRequest, _ context: CallContext, _ attempt: Int, isDelivered: Bool
  ) -> RetryDecision.Input {
    RetryDecision.Input(
      policy: policy, isIdempotent: context.plan.sending.idempotency.allows(request.method),
      isReplayable: request.body?.isReplayable ?? true, isDelivered: isDelivered,
      hasFallbackResponse: false, attempt: attempt, remaining: context.timeLeft, chance: chance())
  }
}

/// The result of one attempt, which may have sent the request to several servers one after another.
struct RetryAttempt {
  let outcome: Result<HTTPResponse, any Error>
  /// The outcome as an input of ``RetryDecision``. Nil if the outcome is an error that is not a transport failure.
  var result: RetryDecision.Result?
  /// The server that produced the result.
  let origin: HTTPURL.Origin

  init(_ outcome: Result<HTTPResponse, any Error>, at origin: HTTPURL.Origin) {
    self.outcome = outcome
    self.origin = origin
    result = RetryDecision.Result(outcome)
  }
}

extension RetryDecision.Result {
  /// Converts the outcome of an attempt into an input of ``RetryDecision``. The value is nil for an error that is not a
  /// transport failure of this attempt.
  init?(_ outcome: Result<HTTPResponse, any Error>) {
    switch outcome {
    case .success(let response): self = .status(response.status, retryAfter: RetryAfter.delay(in: response.fields))
    case .failure(let error):
      guard !APIError.hasEndedAnotherCall(error), let failure = TransportFailure.behind(error) else { return nil }
      self = .failure(failure)
    }
  }
}

extension Result where Failure == any Error {
  package static func catching(_ work: () async throws -> Success) async -> Self {
    do {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
}
