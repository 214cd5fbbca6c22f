import ErrandSupport

/// Tries an exchange again where that may help and can do no harm.
package struct Retrying: SelectiveStation {
  private let control: RetryControl
  private let chance: @Sendable () -> Double

  /// - Parameters:
  ///   - control: The budgets.
  ///   - chance: Where between nothing and the longest wait the next one lies, from 0 to 1.
  package init(_ control: RetryControl, chance: @escaping @Sendable () -> Double = { .random(in: 0...1) }) {
    self.control = control
    self.chance = chance
  }

  /// Where the exchange may be sent again, or elsewhere.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    context.plan.sendsAgain && !context.plan.isStamping
  }

  // What stands apart below is what a call that waits in an attempt holds no room for.

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let sink = context.sink.map(WatchedSink.init)
    let context = sink.map { context.with(sink: $0, onProgress: context.onProgress) } ?? context
    var state = Attempts()
    while true {
      let last = await attempted(request, context, sink, &state.barred, next)
      guard let delay = delay(after: last, &state, request, context, sink) else { return try last.came.get() }
      try await context.call.sleep(until: context.call.timers.now.advanced(by: delay))
    }
  }

  /// What is known of the attempts of one call.
  private struct Attempts {
    var number = 1
    /// What the last one cost.
    var paid = 0
    var barred = BarredServers()
  }

  /// Pays for one more attempt, and says when it may begin; nil where there is none.
  @inline(never)
  private func delay(
    after last: RetryAttempt, _ attempts: inout Attempts, _ request: HTTPRequest, _ context: CallContext,
    _ sink: WatchedSink?
  ) -> Duration? {
    guard let result = last.result else { return nil }
    let policy = context.plan.retries ?? .never
    let question = question(policy, request, context, attempts.number, isDelivered: sink?.hasBegun ?? false)
    guard case .retry(let reason, let delay, let cost) = RetryDecision.decide(result, question),
      control.pay(cost, at: request.url.origin)
    else {
      if case .status(let status, _) = result, status < 500, status != 429, status != 408,
        !policy.statuses.contains(status)
      {
        control.succeed(paid: attempts.paid, at: request.url.origin, answeredBy: last.origin)
      }
      return nil
    }
    attempts.number += 1
    attempts.paid = cost
    context.record.retried(RetryMetrics(reason: reason, delay: delay))
    context.plan.log?.info("attempt \(attempts.number) of \(policy.attempts) in \(delay): \(reason)")
    return delay
  }

  /// One attempt: at every server that is listed, until one answers.
  private func attempted(
    _ request: HTTPRequest, _ context: CallContext, _ sink: WatchedSink?, _ barred: inout BarredServers, _ next: Next
  ) async -> RetryAttempt {
    if context.plan.hosts != nil { return await attemptedAtAll(request, context, sink, &barred, next) }
    return RetryAttempt(await sent(request, context, next), at: request.url.origin)
  }

  @inline(never)
  private func attemptedAtAll(
    _ request: HTTPRequest, _ context: CallContext, _ sink: WatchedSink?, _ barred: inout BarredServers, _ next: Next
  ) async -> RetryAttempt {
    guard let hosts = context.plan.hosts, let rest = hosts.rest(of: request.url) else {
      return RetryAttempt(await sent(request, context, next), at: request.url.origin)
    }
    let failingOver = FailingOver(hosts: hosts, control: control, context: context) { request in
      var question = question(FailingOver.policy, request, context, 1, isDelivered: sink?.hasBegun ?? false)
      // Another server is better than what is stored.
      question.hasStandIn = false
      return question
    }
    return await failingOver.send(request, below: rest, barred: &barred) { await sent($0, context, next) }
  }

  /// One sending, or two side by side.
  private func sent(
    _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async -> Result<HTTPResponse, any Error> {
    if let hedging = hedging(request, context) { return await hedging.send(request, context, next) }
    return await Result.catching { try await next(request, in: context) }
  }

  /// Who sends a request twice; nil where it goes once.
  @inline(never)
  private func hedging(_ request: HTTPRequest, _ context: CallContext) -> Hedging? {
    guard let rule = context.plan.retries?.hedging, Hedging.suits(request, context) else { return nil }
    return Hedging(rule: rule, control: control)
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

/// What came of asking one server, or one after the other.
struct RetryAttempt {
  let came: Result<HTTPResponse, any Error>
  /// What is decided on; nil for an error that is none of the line's.
  var result: RetryDecision.Result?
  /// Whose answer it is.
  let origin: HTTPURL.Origin

  init(_ came: Result<HTTPResponse, any Error>, at origin: HTTPURL.Origin) {
    self.came = came
    self.origin = origin
    result = RetryDecision.Result(came)
  }
}

extension RetryDecision.Result {
  /// What is decided on; nil for an error that is none of the line's.
  init?(_ came: Result<HTTPResponse, any Error>) {
    switch came {
    case .success(let response): self = .status(response.status, retryAfter: RetryAfter.delay(in: response.fields))
    case .failure(let error):
      guard let failure = TransportFailure.behind(error) else { return nil }
      self = .failure(failure)
    }
  }
}

extension Result where Failure == any Error {
  /// What comes of work.
  static func catching(_ work: () async throws -> Success) async -> Self {
    do {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
}

/// Knows whether a sink has been told an answer: from then on what it has taken cannot be taken back.
final class WatchedSink: BodySink {
  private let inner: any BodySink
  private let begun = Locked(false)

  init(_ inner: any BodySink) { self.inner = inner }

  var hasBegun: Bool { begun.withLock { $0 } }

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    let disposition = try inner.begin(head, flow: flow)
    if case .sink = disposition { begun.withLock { $0 = true } }
    return disposition
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool { try inner.write(piece) }
  func end() throws { try inner.end() }
  func settle() async throws { try await inner.settle() }
}
