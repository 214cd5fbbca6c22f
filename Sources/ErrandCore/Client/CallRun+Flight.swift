/// Adds the call to the client's ``FlightRecord`` when it has ended, and notifies its ``CallTrace``.
extension CallRun {
  func didConclude(_ ending: Outcome<Void>) {
    record.trace?.ended(ending)
    guard let flight = record.flight else { return }
    snapshot.flightRecord.add(recorded(flight, ending), limit: snapshot.configuration.record.calls)
  }

  @inline(never)  // frame size
  private func recorded(_ flight: FlightNotes, _ ending: Outcome<Void>) -> FlightCall {
    let metrics = ending.metrics
    return FlightCall(
      storage: .init(
        info, flight, started: started, duration: metrics.total, Self.outcome(ending), attempts: metrics.attempts,
        last: lastDecision(ending), snapshot.flightClient))
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
