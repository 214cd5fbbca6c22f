/// Sends a request to the server of the base URL and to its fallback servers, one after another, until a server
/// responds.
struct FailingOver {
  let hosts: HostList
  let control: RetryControl
  let context: CallContext
  /// A closure that returns the data for the decision whether the request is sent to the next server. The argument is
  /// the request that was sent last.
  let input: (HTTPRequest) -> RetryDecision.Input

  /// The policy that decides after which results the request is sent to the next server. The policy has no delays,
  /// because another server is available at once.
  static let policy = RetryPolicy(
    attempts: .max, statuses: [502, 503, 504], firstDelay: .zero, busyDelay: .zero, longestDelay: .zero)

  /// Sends the request to one server after another until a server responds, and returns the last result. Adds to
  /// `skipped` each server that asks for a delay or whose circuit breaker rejects the request.
  ///
  /// - Parameters:
  ///   - skipped: The servers to skip. If the set contains all servers, no server is skipped.
  ///   - send: A closure that sends the request to one server.
  func send(
    _ request: HTTPRequest, below rest: Substring, skipped: inout SkippedServers,
    _ send: (HTTPRequest) async -> Result<HTTPResponse, any Error>
  ) async -> RetryAttempt {
    let origins = hosts.bases.map(\.origin)
    let order = order(origins, skipped)
    var paid: [(origin: HTTPURL.Origin, cost: Int)] = []
    var last = RetryAttempt(.failure(CallState.Stopped(reason: .cancelled)), at: request.url.origin)
    var earlier: RetryAttempt?
    for (turn, place) in order.enumerated() {
      let origin = origins[place]
      var request = request
      request.url = hosts.url(rest, at: place) ?? request.url
      let begun = context.call.timers.now
      last = RetryAttempt(await send(request), at: origin)
      let now = context.call.timers.now
      if let rest = last.outcome.circuitRest {
        skipped.skip(origin, for: rest, now)
        if turn + 1 < order.count { continue }
        // The circuit breaker rejected the request, so nothing was sent to this server. If an earlier server responded,
        // its response is more useful to the caller.
        last = earlier ?? last
        last.result = last.result?.timed(skipped.wait(for: origins, now))
        return last
      }
      guard let result = last.result else {
        // The next call asks another server first.
        if last.outcome.isExpired, CutOffExchange(request, since: begun, context, at: now).isFailureOfServer {
          control.fail(origin, since: begun, now)
        }
        // The client refused the request, so nothing was sent to this server.
        if case .failure(let error) = last.outcome, APIError.isRefusal(error) { return earlier ?? last }
        return last
      }
      // This does not depend on whether the request may be sent to another server.
      let isFault = RetryDecision.mayHelp(after: result, Self.policy)
      if isFault { control.fail(origin, since: begun, now) }
      guard case .retry(let reason, _, let cost) = RetryDecision.decide(result.timed(nil), input(request)) else {
        if !isFault { recordResponse(result, of: origin, paid) }
        return last
      }
      if case .status(_, let delay?) = result { skipped.skip(origin, for: delay, now) }
      last.result = result.timed(skipped.wait(for: origins, now))
      guard turn + 1 < order.count, control.pay(cost, at: origin) else { return last }
      earlier = last
      paid.append((origin, cost))
      report(
        RetryMetrics(reason: reason, delay: .zero, isCertainlyNotSent: result.isCertainlyNotSent), of: origin,
        next: origins[order[turn + 1]])
    }
    return last
  }

  /// Reports in the metrics and in the log that a server failed and that the request goes to the next server.
  private func report(_ retry: RetryMetrics, of origin: HTTPURL.Origin, next: HTTPURL.Origin) {
    context.record.retried(retry)
    context.note(.failedOver(retry.reason, from: origin, to: next))
    context.plan.log?.info("\(origin) failed (\(retry.reason)); sending the request to \(next)")
  }

  /// Records that a server has responded and is healthy, and refunds the cost of the attempts at earlier servers. If
  /// the status is 429, or 500 or above, nothing is refunded.
  private func recordResponse(
    _ result: RetryDecision.Result, of origin: HTTPURL.Origin, _ paid: [(origin: HTTPURL.Origin, cost: Int)]
  ) {
    guard case .status(let status, _) = result else { return }
    control.recordResponse(from: origin)
    if status < 500, status != 429 { for (origin, cost) in paid { control.succeed(paid: cost, at: origin) } }
  }

  /// The indices of the servers in the order in which the request is sent to them.
  private func order(_ origins: [HTTPURL.Origin], _ skipped: SkippedServers) -> [Int] {
    let now = context.call.timers.now
    let free = origins.indices.filter { !skipped.contains(origins[$0], now) }
    let places = free.isEmpty ? Array(origins.indices) : free
    return control.order(places.map { origins[$0] }, now).map { places[$0] }
  }
}

extension Result<HTTPResponse, any Error> {
  /// How long the circuit breaker still rejects requests; nil if the circuit breaker did not reject this request.
  fileprivate var circuitRest: Duration? {
    guard case .failure(let error as APIError) = self, error.code == .circuitOpen,
      !APIError.hasEndedAnotherCall(error)
    else { return nil }
    return (error.cause as? CircuitOpen)?.timeLeft ?? .zero
  }

  /// Whether the deadline of the call passed during the attempt.
  fileprivate var isExpired: Bool {
    if case .failure(let error) = self { CutOffExchange.isDeadline(error) } else { false }
  }
}

extension RetryDecision.Result {
  /// A copy of the result with another `Retry-After` delay. The delay that one server asks for does not apply to the
  /// other servers, so the caller replaces the delay.
  fileprivate func timed(_ delay: Duration?) -> Self {
    if case .status(let status, _) = self { .status(status, retryAfter: delay) } else { self }
  }
}

/// The servers that a call skips for now, because they asked for a delay or their circuit breaker rejects requests.
struct SkippedServers: Sendable {
  private var ends: [HTTPURL.Origin: MonotonicInstant] = [:]

  mutating func skip(_ origin: HTTPURL.Origin, for rest: Duration, _ now: MonotonicInstant) {
    ends[origin] = now.advanced(by: rest)
  }

  func contains(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) -> Bool { ends[origin].map { $0 > now } ?? false }

  /// The time until the first of the given servers is no longer skipped; nil if a server is available now.
  func wait(for origins: [HTTPURL.Origin], _ now: MonotonicInstant) -> Duration? {
    guard let soonest = origins.map({ ends[$0] ?? now }).min(), soonest > now else { return nil }
    return now.duration(to: soonest)
  }
}
