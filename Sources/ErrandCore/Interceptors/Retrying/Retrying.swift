import ErrandSupport

/// Tries an exchange again if that may help and is safe.
package struct Retrying: SelectiveInterceptor {
  private let control: RetryControl
  private let chance: @Sendable () -> Double

  /// - Parameters:
  ///   - control: The retry budgets of the origins.
  ///   - chance: Returns a random number from 0 to 1: the part of the maximum delay that the call waits.
  package init(_ control: RetryControl, chance: @escaping @Sendable () -> Double = { .random(in: 0...1) }) {
    self.control = control
    self.chance = chance
  }

  /// Whether the exchange may be sent again, or to another server.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool {
    context.plan.sendsAgain && !context.plan.isStamping
  }

  // Some functions below are separate so that their locals do not grow the async frame of a call that waits in an
  // attempt.

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

  /// The state of the attempts of one call.
  private struct Attempts {
    var number = 1
    /// The cost of the last attempt.
    var paid = 0
    var barred = BarredServers()
  }

  /// Takes the cost of one more attempt from the retry budget, and returns the delay before the attempt. Nil if no
  /// attempt follows.
  @inline(never)  // frame size
  private func delay(
    after last: RetryAttempt, _ attempts: inout Attempts, _ request: HTTPRequest, _ context: CallContext,
    _ sink: WatchedSink?
  ) -> Duration? {
    guard let result = last.result else { return nil }
    let policy = context.plan.retries
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

  /// Makes one attempt. If fallback servers are listed, the attempt asks one server after another until one responds.
  private func attempted(
    _ request: HTTPRequest, _ context: CallContext, _ sink: WatchedSink?, _ barred: inout BarredServers, _ next: Next
  ) async -> RetryAttempt {
    if context.plan.hosts != nil { return await attemptedAtAll(request, context, sink, &barred, next) }
    return RetryAttempt(await sent(request, context, next), at: request.url.origin)
  }

  @inline(never)  // frame size
  private func attemptedAtAll(
    _ request: HTTPRequest, _ context: CallContext, _ sink: WatchedSink?, _ barred: inout BarredServers, _ next: Next
  ) async -> RetryAttempt {
    guard let hosts = context.plan.hosts, let rest = hosts.rest(of: request.url) else {
      return RetryAttempt(await sent(request, context, next), at: request.url.origin)
    }
    let failingOver = FailingOver(hosts: hosts, control: control, context: context) { request in
      var question = question(FailingOver.policy, request, context, 1, isDelivered: sink?.hasBegun ?? false)
      // A response from another server is better than the stored response.
      question.hasStandIn = false
      return question
    }
    return await failingOver.send(request, below: rest, barred: &barred) { await sent($0, context, next) }
  }

  /// Sends the request once, or twice in parallel.
  private func sent(
    _ request: HTTPRequest, _ context: CallContext, _ next: Next
  ) async -> Result<HTTPResponse, any Error> {
    if let hedging = hedging(request, context) { return await hedging.send(request, context, next) }
    return await Result.catching { try await next(request, in: context) }
  }

  /// Sends the request a second time if the response is slow; nil if the request is sent only once.
  @inline(never)  // frame size
  private func hedging(_ request: HTTPRequest, _ context: CallContext) -> Hedging? {
    guard let rule = context.plan.retries.hedging, Hedging.suits(request, context) else { return nil }
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

/// The result of one attempt, which may have asked several servers one after another.
struct RetryAttempt {
  let came: Result<HTTPResponse, any Error>
  /// The input of the retry decision; nil for an error that is not a transport failure.
  var result: RetryDecision.Result?
  /// The server that produced the result.
  let origin: HTTPURL.Origin

  init(_ came: Result<HTTPResponse, any Error>, at origin: HTTPURL.Origin) {
    self.came = came
    self.origin = origin
    result = RetryDecision.Result(came)
  }
}

extension RetryDecision.Result {
  /// The input of the retry decision; nil for an error that is not a transport failure.
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
  /// Runs a function and returns its value or its error as a result.
  static func catching(_ work: () async throws -> Success) async -> Self {
    do {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
}

/// Records whether a sink has accepted a response. The bytes in the sink cannot be taken back, so the request is then
/// not sent again.
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
