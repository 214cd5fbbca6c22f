import ErrandSupport

/// The breakers of a client's origins, shared by all its calls.
package final class BreakerControl: Sendable {
  /// The largest number of stored origins. If there are more, all circuits that are closed or whose pause is over are
  /// removed. If there are none, the circuit whose pause ends first is removed.
  private static let most = 1_000

  private let breakers = Locked<[HTTPURL.Origin: Breaker]>([:])

  package init() {}

  /// The longest time for which all requests to an origin are rejected; nil if a request may pass.
  func refusal(_ origin: HTTPURL.Origin, _ rule: BreakerRule, at now: MonotonicInstant) -> Duration? {
    breakers.withLock { breakers in
      guard let breaker = breakers[origin], breaker.rule == rule else { return nil }
      return breaker.refusal(at: now)
    }
  }

  /// Decides whether an exchange may be sent. If the rule has changed, a new breaker starts.
  func enter(_ origin: HTTPURL.Origin, _ rule: BreakerRule, at now: MonotonicInstant) -> Breaker.Entrance {
    breakers.withLock { breakers in
      if breakers.count >= Self.most, breakers[origin] == nil { Self.makeRoom(in: &breakers, at: now) }
      var breaker = breakers[origin] ?? Breaker(rule)
      if breaker.rule != rule { breaker = Breaker(rule, after: breaker.round) }
      defer { breakers[origin] = breaker }
      return breaker.enter(at: now)
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
    _ result: Breaker.Result, _ origin: HTTPURL.Origin, of round: UInt64, at now: MonotonicInstant
  ) -> Bool {
    breakers.withLock { $0[origin]?.end(result, of: round, at: now) ?? false }
  }
}
