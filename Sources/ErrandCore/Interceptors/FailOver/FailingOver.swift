/// Sends a request to one server after another until one responds.
struct FailingOver {
  let hosts: HostList
  let control: RetryControl
  let context: CallContext
  /// Builds the input of the retry decision for the request as it is sent to one server.
  let question: (HTTPRequest) -> RetryDecision.Question

  /// The results after which the next server is asked. There are no delays, because another server is available.
  static let policy = RetryPolicy(
    attempts: .max, statuses: [502, 503, 504], firstDelay: .zero, busyDelay: .zero, longestDelay: .zero)

  /// - Parameters:
  ///   - barred: The servers to skip, unless all servers would be skipped. Servers that ask for a delay are added.
  ///   - send: Sends the request to one server.
  func send(
    _ request: HTTPRequest, below rest: Substring, barred: inout BarredServers,
    _ send: (HTTPRequest) async -> Result<HTTPResponse, any Error>
  ) async -> RetryAttempt {
    let origins = hosts.bases.map(\.origin)
    let order = order(origins, barred)
    var paid: [(origin: HTTPURL.Origin, cost: Int)] = []
    var last = RetryAttempt(.failure(CallState.Stopped(reason: .cancelled)), at: request.url.origin)
    var answered: RetryAttempt?
    for (turn, place) in order.enumerated() {
      let origin = origins[place]
      var request = request
      request.url = hosts.url(rest, at: place) ?? request.url
      last = RetryAttempt(await send(request), at: origin)
      let now = context.call.timers.now
      if let rest = last.came.circuitRest {
        barred.bar(origin, for: rest, now)
        if turn + 1 < order.count { continue }
        // Nothing was sent to this server. If an earlier server responded, that response is more useful to the caller.
        last = answered ?? last
        last.result = last.result?.timed(barred.wait(for: origins, now))
        return last
      }
      guard let result = last.result else { return last }
      let isFault = Self.isFault(result)
      if isFault { control.fail(origin, now) }
      guard case .retry(let reason, _, let cost) = RetryDecision.decide(result.timed(nil), question(request)) else {
        if !isFault { note(result, of: origin, paid) }
        return last
      }
      if case .status(_, let delay?) = result { barred.bar(origin, for: delay, now) }
      last.result = result.timed(barred.wait(for: origins, now))
      guard turn + 1 < order.count, control.pay(cost, at: origin) else { return last }
      answered = last
      paid.append((origin, cost))
      context.record.retried(RetryMetrics(reason: reason, delay: .zero))
      context.plan.log?.info("\(reason) at \(origin): asking \(origins[order[turn + 1]])")
    }
    return last
  }

  /// Records that a server has responded and is healthy. Unless the status is 429, or 500 and above, the cost of the
  /// attempts at earlier servers is refunded.
  private func note(
    _ result: RetryDecision.Result, of origin: HTTPURL.Origin, _ paid: [(origin: HTTPURL.Origin, cost: Int)]
  ) {
    guard case .status(let status, _) = result else { return }
    control.answer(origin)
    if status < 500, status != 429 { for (origin, cost) in paid { control.succeed(paid: cost, at: origin) } }
  }

  /// Whether the server caused the failure. The result does not depend on whether the request may be sent to another
  /// server.
  private static func isFault(_ result: RetryDecision.Result) -> Bool {
    switch result {
    case .status(let status, _): policy.statuses.contains(status)
    case .failure(let failure): failure.kind.isPassing
    }
  }

  /// The indices of the servers to ask, in order.
  private func order(_ origins: [HTTPURL.Origin], _ barred: BarredServers) -> [Int] {
    let now = context.call.timers.now
    let free = origins.indices.filter { !barred.contains(origins[$0], now) }
    let places = free.isEmpty ? Array(origins.indices) : free
    return control.order(places.map { origins[$0] }, now).map { places[$0] }
  }
}

extension Result<HTTPResponse, any Error> {
  /// How long the circuit breaker still rejects requests; nil if it did not reject this request.
  fileprivate var circuitRest: Duration? {
    guard case .failure(let error as APIError) = self, error.code == .circuitOpen else { return nil }
    return (error.cause as? CircuitOpen)?.timeLeft ?? .zero
  }
}

extension RetryDecision.Result {
  /// A copy of the result with another delay, because the `Retry-After` of a server applies only to that server.
  fileprivate func timed(_ delay: Duration?) -> Self {
    if case .status(let status, _) = self { .status(status, retryAfter: delay) } else { self }
  }
}

/// The servers that a call skips for now, because they asked for a delay or their circuit breaker rejects requests.
struct BarredServers: Sendable {
  private var ends: [HTTPURL.Origin: MonotonicInstant] = [:]

  /// Skips a server for a time.
  mutating func bar(_ origin: HTTPURL.Origin, for rest: Duration, _ now: MonotonicInstant) {
    ends[origin] = now.advanced(by: rest)
  }

  /// Whether a server is skipped now.
  func contains(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) -> Bool { ends[origin].map { $0 > now } ?? false }

  /// The time until at least one of the servers is no longer skipped; nil if one of them is not skipped now.
  func wait(for origins: [HTTPURL.Origin], _ now: MonotonicInstant) -> Duration? {
    guard let soonest = origins.map({ ends[$0] ?? now }).min(), soonest > now else { return nil }
    return now.duration(to: soonest)
  }
}
