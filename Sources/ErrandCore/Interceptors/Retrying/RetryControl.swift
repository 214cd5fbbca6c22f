import ErrandSupport

/// Stores what a client has learned about its origins: retry budgets, failed servers and response times. All calls of
/// the client share this object.
package final class RetryControl: Sendable {
  /// The retry budgets that are not full. An origin without an element has a full budget.
  private let budgets = Locked<[HTTPURL.Origin: RetryBudget]>([:])
  private let health = Locked(HostHealth())
  private let latencies = Locked<[HTTPURL.Origin: LatencyHistory]>([:])

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

  /// Records a successful call or a completed transfer, which increases the retry budget of the origin: the cost of the
  /// last attempt is refunded.
  package func succeed(paid: Int, at origin: HTTPURL.Origin) {
    budgets.withLock { budgets in
      guard !budgets.isEmpty, var budget = budgets[origin] else { return }
      budget.succeed(paid: paid)
      budgets[origin] = budget.isFull ? nil : budget
    }
  }

  /// Records a successful call. The cost of its last attempt was taken from the budget of `origin`, and `server` sent
  /// its response.
  func succeed(paid: Int, at origin: HTTPURL.Origin, servedBy server: HTTPURL.Origin) {
    if paid > 0 || server == origin { succeed(paid: paid, at: origin) }
    if server != origin { succeed(paid: 0, at: server) }
  }

  var budgetCount: Int { budgets.withLock { $0.count } }

  /// The largest number of stored origins. If the number is reached, the retry budget that is nearest to full is
  /// removed.
  static let mostOrigins = 256

  // MARK: - Health

  /// Returns the indices of the servers in the order in which a call sends its request to them.
  func order(_ origins: [HTTPURL.Origin], _ now: MonotonicInstant) -> [Int] {
    health.withLock { $0.order(origins, now) }
  }

  /// Records that an attempt at a server failed, so that the server is asked last for some time. The attempt began at
  /// the moment `begun`.
  func fail(_ origin: HTTPURL.Origin, since begun: MonotonicInstant, _ now: MonotonicInstant) {
    health.withLock { $0.fail(origin, since: begun, now) }
  }

  /// Records a response of a server, so that the server counts as healthy.
  func recordResponse(from origin: HTTPURL.Origin) {
    health.withLock { if !$0.isHealthy { $0.recordResponse(from: origin) } }
  }

  // MARK: - Latency

  /// The last response times of an origin; nil if no response time is known.
  func latencies(of origin: HTTPURL.Origin) -> LatencyHistory? { latencies.withLock { $0[origin] } }

  func recordLatency(_ time: Duration, of origin: HTTPURL.Origin) {
    latencies.withLock { latencies in
      // The table has no space for another origin, so the response times of all origins are removed.
      if latencies.count >= Self.mostOrigins, latencies[origin] == nil { latencies.removeAll() }
      latencies[origin, default: LatencyHistory()].add(time)
    }
  }
}

/// Retries of interrupted body transfers. Each range request that continues a body counts as a new attempt.
extension RetryControl {
  /// Takes the cost of one attempt from the retry budget of the origin. Returns the cost; nil if the budget is too low.
  package func payForResume(_ reason: RetryReason, at origin: HTTPURL.Origin) -> Int? {
    let cost = reason == .failure(.idleTimeout) ? RetryBudget.timeoutPrice : RetryBudget.price
    return pay(cost, at: origin) ? cost : nil
  }
}

/// The remaining retry budget of one origin, in tokens. Each new attempt takes tokens, and a success refunds the
/// tokens. So retries do not multiply the load on a server that is down.
struct RetryBudget: Sendable, Hashable {
  /// The largest number of tokens in the budget. A new budget has this number of tokens.
  static let full = 500
  /// The number of tokens that a new attempt takes.
  static let price = 5
  /// The number of tokens that a new attempt takes after a time-out.
  static let timeoutPrice = 10
  /// The number of tokens that a success at the first attempt adds.
  private static let reward = 1

  private(set) var tokens = full

  /// Takes the cost of a new attempt. Returns false if there are too few tokens.
  mutating func pay(_ cost: Int) -> Bool {
    guard tokens >= cost else { return false }
    tokens -= cost
    return true
  }

  /// Records a success: the tokens of the last attempt are refunded. A success at the first attempt adds one token.
  mutating func succeed(paid: Int) { tokens = min(tokens + max(paid, Self.reward), Self.full) }

  /// Whether the budget is full. A full budget need not be stored.
  var isFull: Bool { tokens == Self.full }
}

struct LatencyHistory: Sendable {
  static var limit: Int { 128 }
  /// The smallest number of response times from which ``time(of:)`` computes a result. A result from fewer response
  /// times would be unreliable.
  static var least: Int { 20 }

  private var ring = Ring<Duration>()

  mutating func add(_ time: Duration) { ring.append(time, limit: Self.limit) }

  /// The time within which the given share of the responses arrived. The share is a number from 0 to 1. Nil if fewer
  /// than ``least`` response times are known.
  func time(of share: Double) -> Duration? {
    let times = ring.unordered
    guard times.count >= Self.least else { return nil }
    // A share that is negative or not a number counts as zero.
    let place = share > 0 ? Double(times.count) * min(share, 1) : 0
    return times.sorted()[min(Int(place), times.count - 1)]
  }
}

extension HedgeRule {
  /// The time after which a slow request is sent a second time in parallel. Nil if the request is not sent a second
  /// time, because too few response times are known.
  func delay(_ history: LatencyHistory?) -> Duration? {
    switch kind {
    case .after(let time): time
    case .share(let share, let least): history?.time(of: share).map { max($0, least) }
    }
  }
}

/// The servers that have failed recently. After a failure a server is asked last for some time, which doubles with each
/// further failure. After this time, one call sends its request to the server again.
struct HostHealth: Sendable {
  private struct Failure: Sendable {
    var count: Int
    /// The moment of the last failure that was counted.
    var last: MonotonicInstant
    var until: MonotonicInstant
  }

  /// How long a server is asked last after its first failure.
  static var firstRest: Duration { .seconds(5) }
  /// The longest time for which a server is asked last.
  static var longestRest: Duration { .seconds(300) }

  private var failed: [HTTPURL.Origin: Failure] = [:]

  var isHealthy: Bool { failed.isEmpty }

  /// Returns the indices of the servers in the order in which a call sends its request to them. The healthy servers are
  /// first, in the order of `origins`. Then follow the resting servers, sorted by the moments at which their rests end.
  /// A server whose rest has ended counts as healthy, but only for this one call.
  mutating func order(_ origins: [HTTPURL.Origin], _ now: MonotonicInstant) -> [Int] {
    let rests = origins.map { failed[$0].map { $0.until > now ? $0.until : nil } ?? nil }
    let order = origins.indices.sorted { left, right in
      switch (rests[left], rests[right]) {
      case (nil, nil): left < right
      case (nil, _?): true
      case (_?, nil): false
      case (let one?, let other?): (one, left) < (other, right)
      }
    }
    if let first = order.first, let failure = failed[origins[first]] {
      failed[origins[first]]?.until = now.advanced(by: Self.rest(after: failure.count))
    }
    return order
  }

  /// Records that an attempt at a server failed, so that the server is asked last for some time. An attempt that began
  /// before the last counted failure is not counted. Otherwise one short fault would count once for each call that was
  /// running.
  ///
  /// - Parameter begun: The moment at which the attempt began.
  mutating func fail(_ origin: HTTPURL.Origin, since begun: MonotonicInstant, _ now: MonotonicInstant) {
    let failure = failed[origin]
    if let failure, begun <= failure.last { return }
    let failures = (failure?.count ?? 0) + 1
    failed[origin] = Failure(count: failures, last: now, until: now.advanced(by: Self.rest(after: failures)))
  }

  /// Records a response of a server, so that the server counts as healthy.
  mutating func recordResponse(from origin: HTTPURL.Origin) { failed[origin] = nil }

  private static func rest(after failures: Int) -> Duration {
    firstRest.doubled(upTo: longestRest, attempt: failures)
  }
}
