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

/// Bodies that break off and are asked for again from where they stopped: each time is a new attempt.
extension RetryControl {
  /// Pays for one; gives what it cost, nil where the origin's budget does not allow one more.
  package func payForTakeUp(_ reason: RetryReason, at origin: HTTPURL.Origin) -> Int? {
    let cost = reason == .failure(.idleTimeout) ? RetryBudget.timeoutPrice : RetryBudget.price
    return pay(cost, at: origin) ? cost : nil
  }

  /// What was taken up has come to its end: what the last time cost comes back.
  package func succeedAfterTakeUp(paid: Int, at origin: HTTPURL.Origin) { succeed(paid: paid, at: origin) }
}

/// How many new attempts one origin still gets: when a server is down, many calls must not become many more. A value;
/// every new attempt costs, success pays back.
struct RetryBudget: Sendable, Hashable {
  /// What there is at most, and at first.
  static let full = 500
  /// What a new attempt costs.
  static let price = 5
  /// What one costs after a time-out.
  static let timeoutPrice = 10
  /// What a success at the first attempt brings.
  private static let reward = 1

  private(set) var tokens = full

  /// Pays for a new attempt; false where there is not enough.
  mutating func pay(_ cost: Int) -> Bool {
    guard tokens >= cost else { return false }
    tokens -= cost
    return true
  }

  /// A call has succeeded: what its last new attempt cost comes back.
  mutating func succeed(paid: Int) { tokens = min(tokens + max(paid, Self.reward), Self.full) }

  /// Whether nothing has to be remembered.
  var isFull: Bool { tokens == Self.full }
}

/// How long the last answers of an origin took. A value.
struct LatencyBook: Sendable {
  /// How many are remembered.
  static var limit: Int { 128 }
  /// How few say nothing.
  static var least: Int { 20 }

  private var times: [Duration] = []
  private var next = 0

  mutating func note(_ time: Duration) {
    if times.count < Self.limit { return times.append(time) }
    times[next] = time
    next = (next + 1) % Self.limit
  }

  /// The time within which this share of the answers came; nil where too few are known.
  func time(of share: Double) -> Duration? {
    guard times.count >= Self.least else { return nil }
    // A share that is no number counts as nothing.
    let place = share > 0 ? Double(times.count) * min(share, 1) : 0
    return times.sorted()[min(Int(place), times.count - 1)]
  }
}

extension HedgeRule {
  /// When the second request goes out; nil for never.
  func delay(_ book: LatencyBook?) -> Duration? {
    switch kind {
    case .after(let time): time
    case .share(let share, let least): book?.time(of: share).map { max($0, least) }
    }
  }
}
