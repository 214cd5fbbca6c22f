import ErrandSupport

/// The breakers of a client's origins, shared by all its calls.
package final class BreakerControl: Sendable {
  /// So many origins are remembered; beyond that those are forgotten that are well, or that nobody has asked since their
  /// pause was over, and at last the one whose pause ends first.
  private static let most = 1_000

  private let breakers = Locked<[HTTPURL.Origin: Breaker]>([:])

  package init() {}

  /// How long nothing is sent to an origin at most; nil where something is.
  func refusal(_ origin: HTTPURL.Origin, _ rule: BreakerRule, at now: MonotonicInstant) -> Duration? {
    breakers.withLock { breakers in
      guard let breaker = breakers[origin], breaker.rule == rule else { return nil }
      return breaker.refusal(at: now)
    }
  }

  /// Asks whether an exchange may be sent. A rule that has changed begins anew.
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

  /// How many origins are remembered.
  var count: Int { breakers.withLock { $0.count } }

  /// Tells the result of an exchange that was let through. Returns whether the circuit opened by it.
  func end(
    _ result: Breaker.Result, _ origin: HTTPURL.Origin, of round: UInt64, at now: MonotonicInstant
  ) -> Bool {
    breakers.withLock { $0[origin]?.end(result, of: round, at: now) ?? false }
  }
}
