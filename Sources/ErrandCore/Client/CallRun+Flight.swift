/// Adds the call to the client's ``FlightRecord`` when it has ended, and notifies its ``CallTrace``.
extension CallRun {
  func didConclude(_ ending: Outcome<Void>) {
    record.trace?.ended(ending)
    guard let flight = record.flight else { return }
    snapshot.flightRecord.add(recorded(flight, ending), limit: snapshot.configuration.record.calls)
  }

  @inline(never)  // frame size
  private func recorded(_ flight: FlightNotes, _ ending: Outcome<Void>) -> FlightCall {
    let (events, omitted) = flight.ordered
    var decisions: [FlightCall.TimedDecision] = []
    var exchanges: [FlightExchange.Storage] = []
    for event in events {
      let offset = started.duration(to: event.moment)
      switch event.content {
      case .decision(let decision): decisions.append(.init(offset: offset, decision: decision))
      case .exchange(let notes):
        let end = notes.end
        exchanges.append(.init(offset: offset, request: notes.request, requestBody: notes.requestBody, end: end))
        decisions.append(.init(offset: offset, decision: .sent(route(of: end.metrics))))
      }
    }
    if let last = lastDecision(ending) { decisions.append(.init(offset: ending.metrics.total, decision: last)) }
    return FlightCall(
      storage: .init(
        info, startedAt: flight.startedAt, duration: ending.metrics.total, Self.outcome(ending),
        attempts: ending.metrics.attempts, flight.request, decisions, omitted: omitted, exchanges,
        snapshot.configuration.record.detail))
  }

  private func route(of metrics: ExchangeMetrics) -> CallDecision.Route {
    let choice: CallDecision.Route.Choice =
      switch snapshot.configuration.transport {
      case .platform: .platform
      case .named(let name): .named(name)
      case .own: .configured
      }
    return CallDecision.Route(
      transport: snapshot.transport.map { "\(type(of: $0))" } ?? "no transport", choice: choice,
      isConnectionReused: metrics.isConnectionReused, address: metrics.remoteAddress)
  }

  /// The decision that ended a call without success, if no interceptor has recorded it.
  private func lastDecision(_ ending: Outcome<Void>) -> CallDecision? {
    guard let error = ending.error else { return nil }
    switch error.stage {
    case .deadline: return .deadlinePassed(limit: state.isPastDeadline ? totalTimeout : nil)
    case .cancelled: return .cancelled(error.code == .cancelled ? nil : error.message)
    default: return missingPolicy(error)
    }
  }

  /// The decision not to retry a call that has no retry policy, if another attempt might have succeeded.
  private func missingPolicy(_ error: APIError) -> CallDecision? {
    guard error.attempts > 0, let request = error.request, case .success(nil) = snapshot.hosts,
      !retries(of: info.request).sendsAgain
    else { return nil }
    var result = TransportFailure.behind(error).map { RetryDecision.Result.failure($0) }
    if error.stage == .validate, error.code == .status, let status = error.status {
      result = .status(status, retryAfter: nil)
    }
    guard let result, RetryDecision.mayHelp(after: result, .none) else { return nil }
    return .notRetried(RetryDecision.reason(for: result), request.method, because: .policy)
  }

  private static func outcome(_ ending: Outcome<Void>) -> FlightCall.Outcome {
    if let error = ending.error {
      return .failure(error.stage, error.code, message: error.message, status: error.status)
    }
    return .success(status: ending.response?.status, ending.origin)
  }
}
