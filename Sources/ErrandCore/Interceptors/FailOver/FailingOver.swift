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

  /// - Parameter send: Sends to one server.
  func send(
    _ request: HTTPRequest, below rest: Substring, _ send: (HTTPRequest) async -> Result<HTTPResponse, any Error>
  ) async -> Result<HTTPResponse, any Error> {
    let origins = hosts.bases.map(\.origin)
    let order = control.order(origins, context.call.timers.now)
    var came: Result<HTTPResponse, any Error> = .failure(CallState.Stopped(reason: .cancelled))
    for (turn, place) in order.enumerated() {
      var request = request
      request.url = hosts.url(rest, at: place) ?? request.url
      came = await send(request)
      if came.isCircuitOpen, turn + 1 < order.count { continue }
      guard let result = RetryDecision.Result(came) else { return came }
      guard case .retry(let reason, _, let cost) = RetryDecision.decide(result.untimed, question(request)) else {
        if case .status = result { control.answer(origins[place]) }
        return came
      }
      control.fail(origins[place], context.call.timers.now)
      guard turn + 1 < order.count, control.pay(cost, at: origins[place]) else { return came }
      context.record.retried(RetryMetrics(reason: reason, delay: .zero))
      context.plan.log?.info("\(reason) at \(origins[place]): asking \(origins[order[turn + 1]])")
    }
    return came
  }
}

extension Result<HTTPResponse, any Error> {
  /// Whether nothing was sent, since the server fails too often.
  fileprivate var isCircuitOpen: Bool {
    if case .failure(let error as APIError) = self { error.code == .circuitOpen } else { false }
  }
}

extension RetryDecision.Result {
  /// The same without a word on when to come back: that is meant for the same server.
  fileprivate var untimed: Self {
    if case .status(let status, _) = self { .status(status, retryAfter: nil) } else { self }
  }
}
