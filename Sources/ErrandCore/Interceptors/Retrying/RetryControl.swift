import ErrandSupport

/// What a client knows of its origins, shared by all its calls: budgets, health, and how fast they answer.
package final class RetryControl: Sendable {
  /// Those that are not full.
  private let budgets = Locked<[HTTPURL.Origin: RetryBudget]>([:])
  private let health = Locked(HostHealth())
  private let latencies = Locked<[HTTPURL.Origin: LatencyBook]>([:])

  package init() {}

  /// Pays for a new attempt at an origin; false where its budget does not allow one more.
  func pay(_ cost: Int, at origin: HTTPURL.Origin) -> Bool {
    budgets.withLock { budgets in
      if budgets.count >= Self.mostOrigins, budgets[origin] == nil,
        let fullest = budgets.max(by: { $0.value.tokens < $1.value.tokens })
      {
        budgets[fullest.key] = nil
      }
      return budgets[origin, default: RetryBudget()].pay(cost)
    }
  }

  /// A call at an origin has succeeded.
  func succeed(paid: Int, at origin: HTTPURL.Origin) {
    budgets.withLock { budgets in
      guard !budgets.isEmpty, var budget = budgets[origin] else { return }
      budget.succeed(paid: paid)
      budgets[origin] = budget.isFull ? nil : budget
    }
  }

  /// A call has succeeded that paid its last new attempt at one origin, and was answered by that or by another one.
  func succeed(paid: Int, at origin: HTTPURL.Origin, answeredBy server: HTTPURL.Origin) {
    if paid > 0 || server == origin { succeed(paid: paid, at: origin) }
    if server != origin { succeed(paid: 0, at: server) }
  }

  /// How many budgets are remembered.
  var budgetCount: Int { budgets.withLock { $0.count } }

  /// How many origins are remembered: where there are more, the budget that is nearest to full goes.
  static let mostOrigins = 256

  // MARK: - Health

  /// The order in which servers are asked now.
  func order(_ origins: [HTTPURL.Origin], _ now: MonotonicInstant) -> [Int] {
    health.withLock { $0.order(origins, now) }
  }

  /// A server has failed.
  func fail(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) { health.withLock { $0.fail(origin, now) } }

  /// A server has answered.
  func answer(_ origin: HTTPURL.Origin) { health.withLock { if !$0.isWell { $0.answer(origin) } } }

  // MARK: - Latency

  /// How long the last answers of an origin took; nil where nothing is known.
  func latencies(of origin: HTTPURL.Origin) -> LatencyBook? { latencies.withLock { $0[origin] } }

  /// An answer has come.
  func note(_ time: Duration, of origin: HTTPURL.Origin) {
    latencies.withLock { latencies in
      // Those of a crowd of origins say little: begin anew.
      if latencies.count >= Self.mostOrigins, latencies[origin] == nil { latencies.removeAll() }
      latencies[origin, default: LatencyBook()].note(time)
    }
  }
}
