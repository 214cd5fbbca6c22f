import ErrandSupport

/// What a client has learned about its origins: retry budgets, failed servers and response times. All calls of the
/// client share it.
package final class RetryControl: Sendable {
  /// The retry budgets that are not full.
  private let budgets = Locked<[HTTPURL.Origin: RetryBudget]>([:])
  private let health = Locked(HostHealth())
  private let latencies = Locked<[HTTPURL.Origin: LatencyBook]>([:])

  package init() {}

  /// Takes the cost of a new attempt from the retry budget of an origin. Returns false if the budget is too low.
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

  /// Records a successful call at an origin, which increases the retry budget of the origin.
  func succeed(paid: Int, at origin: HTTPURL.Origin) {
    budgets.withLock { budgets in
      guard !budgets.isEmpty, var budget = budgets[origin] else { return }
      budget.succeed(paid: paid)
      budgets[origin] = budget.isFull ? nil : budget
    }
  }

  /// Records a successful call. The cost of its last attempt was taken from the budget of `origin`, and its response
  /// came from `server`.
  func succeed(paid: Int, at origin: HTTPURL.Origin, answeredBy server: HTTPURL.Origin) {
    if paid > 0 || server == origin { succeed(paid: paid, at: origin) }
    if server != origin { succeed(paid: 0, at: server) }
  }

  /// The number of stored retry budgets.
  var budgetCount: Int { budgets.withLock { $0.count } }

  /// The largest number of stored origins. If there are more, the retry budget that is nearest to full is removed.
  static let mostOrigins = 256

  // MARK: - Health

  /// The order in which servers are asked now.
  func order(_ origins: [HTTPURL.Origin], _ now: MonotonicInstant) -> [Int] {
    health.withLock { $0.order(origins, now) }
  }

  /// Records a failure of a server.
  func fail(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) { health.withLock { $0.fail(origin, now) } }

  /// Records a response of a server.
  func answer(_ origin: HTTPURL.Origin) { health.withLock { if !$0.isWell { $0.answer(origin) } } }

  // MARK: - Latency

  /// The last response times of an origin; nil if none is known.
  func latencies(of origin: HTTPURL.Origin) -> LatencyBook? { latencies.withLock { $0[origin] } }

  /// Records a response time.
  func note(_ time: Duration, of origin: HTTPURL.Origin) {
    latencies.withLock { latencies in
      // There are too many origins to store: remove all response times.
      if latencies.count >= Self.mostOrigins, latencies[origin] == nil { latencies.removeAll() }
      latencies[origin, default: LatencyBook()].note(time)
    }
  }
}

/// Retries of interrupted body transfers. Each range request that continues a body counts as a new attempt.
extension RetryControl {
  /// Takes the cost of one attempt from the retry budget of the origin. Returns the cost; nil if the budget is too low.
  package func payForTakeUp(_ reason: RetryReason, at origin: HTTPURL.Origin) -> Int? {
    let cost = reason == .failure(.idleTimeout) ? RetryBudget.timeoutPrice : RetryBudget.price
    return pay(cost, at: origin) ? cost : nil
  }

  /// Records a resumed transfer that has completed: the cost of its last attempt is refunded.
  package func succeedAfterTakeUp(paid: Int, at origin: HTTPURL.Origin) { succeed(paid: paid, at: origin) }
}

/// The remaining retry budget of one origin. Each new attempt costs tokens, and a success refunds them. So retries do
/// not multiply the load on a server that is down.
struct RetryBudget: Sendable, Hashable {
  /// The largest and initial number of tokens.
  static let full = 500
  /// The cost of a new attempt.
  static let price = 5
  /// The cost of a new attempt after a time-out.
  static let timeoutPrice = 10
  /// The tokens gained by a success at the first attempt.
  private static let reward = 1

  private(set) var tokens = full

  /// Takes the cost of a new attempt. Returns false if there are too few tokens.
  mutating func pay(_ cost: Int) -> Bool {
    guard tokens >= cost else { return false }
    tokens -= cost
    return true
  }

  /// Records a success: the cost of the last attempt is refunded.
  mutating func succeed(paid: Int) { tokens = min(tokens + max(paid, Self.reward), Self.full) }

  /// Whether the budget is full and need not be stored.
  var isFull: Bool { tokens == Self.full }
}

/// The last response times of an origin.
struct LatencyBook: Sendable {
  /// The largest number of stored response times.
  static var limit: Int { 128 }
  /// The smallest number of response times that gives a meaningful result.
  static var least: Int { 20 }

  private var times: [Duration] = []
  private var next = 0

  mutating func note(_ time: Duration) {
    if times.count < Self.limit { return times.append(time) }
    times[next] = time
    next = (next + 1) % Self.limit
  }

  /// The time within which this share of the responses arrived; nil if too few response times are known.
  func time(of share: Double) -> Duration? {
    guard times.count >= Self.least else { return nil }
    // A share that is not a number counts as zero.
    let place = share > 0 ? Double(times.count) * min(share, 1) : 0
    return times.sorted()[min(Int(place), times.count - 1)]
  }
}

extension HedgeRule {
  /// The delay before the second request is sent; nil for never.
  func delay(_ book: LatencyBook?) -> Duration? {
    switch kind {
    case .after(let time): time
    case .share(let share, let least): book?.time(of: share).map { max($0, least) }
    }
  }
}
