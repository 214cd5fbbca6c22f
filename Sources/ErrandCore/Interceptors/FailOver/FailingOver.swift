/// Asks one server after the other until one answers.
struct FailingOver {
  let hosts: HostList
  let control: RetryControl
  let context: CallContext
  /// What is sent once more, and when; asked for each server.
  let question: (HTTPRequest) -> RetryDecision.Question

  /// What is taken for the failure of a server; asked without a wait, as another one is there.
  static let policy = RetryPolicy(
    attempts: .max, statuses: [502, 503, 504], firstDelay: .zero, busyDelay: .zero, longestDelay: .zero)

  /// - Parameters:
  ///   - barred: Those that are left out, unless all are; it learns of others.
  ///   - send: Sends to one server.
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
        // What a server said before tells more than that nothing was sent to this one.
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

  /// A server has answered: it is well, and what it cost to come to it is paid back.
  private func note(
    _ result: RetryDecision.Result, of origin: HTTPURL.Origin, _ paid: [(origin: HTTPURL.Origin, cost: Int)]
  ) {
    guard case .status(let status, _) = result else { return }
    control.answer(origin)
    if status < 500, status != 429 { for (origin, cost) in paid { control.succeed(paid: cost, at: origin) } }
  }

  /// Whether it speaks against the server, may the request be sent to another one or not.
  private static func isFault(_ result: RetryDecision.Result) -> Bool {
    switch result {
    case .status(let status, _): policy.statuses.contains(status)
    case .failure(let failure): failure.kind.isPassing
    }
  }

  /// The places of those that are asked, one after the other.
  private func order(_ origins: [HTTPURL.Origin], _ barred: BarredServers) -> [Int] {
    let now = context.call.timers.now
    let free = origins.indices.filter { !barred.contains(origins[$0], now) }
    let places = free.isEmpty ? Array(origins.indices) : free
    return control.order(places.map { origins[$0] }, now).map { places[$0] }
  }
}

extension Result<HTTPResponse, any Error> {
  /// How long nothing is sent, since the server fails too often; nil where it was sent.
  fileprivate var circuitRest: Duration? {
    guard case .failure(let error as APIError) = self, error.code == .circuitOpen else { return nil }
    return (error.cause as? CircuitOpen)?.timeLeft ?? .zero
  }
}

extension RetryDecision.Result {
  /// The same with another word on when to come back: what a server says is meant for that server.
  fileprivate func timed(_ delay: Duration?) -> Self {
    if case .status(let status, _) = self { .status(status, retryAfter: delay) } else { self }
  }
}

/// The servers that a call leaves alone for now, since they said when to come back. A value.
struct BarredServers: Sendable {
  private var ends: [HTTPURL.Origin: MonotonicInstant] = [:]

  /// A server is not to be asked for a time.
  mutating func bar(_ origin: HTTPURL.Origin, for rest: Duration, _ now: MonotonicInstant) {
    ends[origin] = now.advanced(by: rest)
  }

  /// Whether a server is not to be asked now.
  func contains(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) -> Bool { ends[origin].map { $0 > now } ?? false }

  /// How long until one of these may be asked; nil where one may be now.
  func wait(for origins: [HTTPURL.Origin], _ now: MonotonicInstant) -> Duration? {
    guard let soonest = origins.map({ ends[$0] ?? now }).min(), soonest > now else { return nil }
    return now.duration(to: soonest)
  }
}
