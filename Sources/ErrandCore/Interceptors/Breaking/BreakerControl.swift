import ErrandSupport

/// The circuit breakers of a client, one for each origin. All calls of the client share them.
package final class BreakerControl: Sendable {
  /// The largest number of stored circuit breakers. If the number is reached, all circuit breakers that are closed or
  /// whose pause is over are removed. If no circuit breaker is in such a state, the one whose pause ends first is
  /// removed.
  private static let most = 1_000

  private let breakers = Locked<[HTTPURL.Origin: Breaker]>([:])

  package init() {}

  /// The remaining time of an origin's pause if no request may be sent to the origin now; nil if a request may be sent.
  func rejectionTime(_ origin: HTTPURL.Origin, _ rule: BreakerRule, at now: MonotonicInstant) -> Duration? {
    breakers.withLock { breakers in
      guard let breaker = breakers[origin], breaker.rule == rule else { return nil }
      return breaker.rejectionTime(at: now)
    }
  }

  /// Decides whether an exchange may be sent. If the rule has changed, a new circuit breaker replaces the circuit
  /// breaker of the origin.
  func admit(_ origin: HTTPURL.Origin, _ rule: BreakerRule, at now: MonotonicInstant) -> Breaker.Admission {
    breakers.withLock { breakers in
      if breakers.count >= Self.most, breakers[origin] == nil { Self.makeRoom(in: &breakers, at: now) }
      var breaker = breakers[origin] ?? Breaker(rule)
      if breaker.rule != rule { breaker = Breaker(rule, after: breaker.generation) }
      defer { breakers[origin] = breaker }
      return breaker.admit(at: now)
    }
  }

  private static func makeRoom(in breakers: inout [HTTPURL.Origin: Breaker], at now: MonotonicInstant) {
    breakers = breakers.filter { $0.value.state.pauseEnds.map { $0 > now } ?? false }
    guard breakers.count >= most else { return }
    let first = breakers.min { ($0.value.state.pauseEnds ?? now) < ($1.value.state.pauseEnds ?? now) }
    if let first { breakers[first.key] = nil }
  }

  /// The number of origins that are stored.
  var count: Int { breakers.withLock { $0.count } }

  /// Records the result of an admitted exchange. Returns whether this result opened the circuit.
  func end(
    _ result: Breaker.Result, _ origin: HTTPURL.Origin, of generation: UInt64, at now: MonotonicInstant
  ) -> Bool {
    breakers.withLock { $0[origin]?.end(result, of: generation, at: now) ?? false }
  }
}
