/// Whether an origin is asked: a state machine without a clock or a lock of its own.
///
/// ```
/// closed   ── too many failures ──▶ open        everything passes; the last results are counted
/// open     ── the pause is over ──▶ trying      nothing passes
/// trying   ── few failures      ──▶ closed      so many trials pass
///          ── too many failures ──▶ open
///          ── the pause is over ──▶ trying      with new trials: one that hangs blocks nobody for good
/// ```
///
/// Each change begins a new **round**, and results of an earlier one count for nothing.
struct Breaker: Sendable {
  enum State: Sendable, Equatable {
    case closed
    case open(until: MonotonicInstant)
    case trying(until: MonotonicInstant)

    /// The end of the present pause; nil where there is none.
    var pauseEnds: MonotonicInstant? {
      switch self {
      case .closed: nil
      case .open(let until), .trying(let until): until
      }
    }
  }

  /// What an exchange came to.
  enum Result: Sendable {
    case success, failure
    /// It says nothing about the origin.
    case nothing
  }

  enum Entrance: Sendable, Equatable {
    /// It may be sent; its result is told with the round.
    case pass(round: UInt64, isTrial: Bool)
    /// It may not, for so long at most.
    case refused(for: Duration)
  }

  let rule: BreakerRule
  private(set) var state = State.closed
  private(set) var round: UInt64
  private var window: ResultWindow
  /// Trials that have not ended, and those that have.
  private var running = 0
  private var ended = 0
  private var failed = 0

  /// - Parameter round: The last round of the breaker in whose place it stands.
  init(_ rule: BreakerRule, after round: UInt64 = 0) {
    self.rule = rule
    self.round = round + 1
    window = ResultWindow(size: Self.windowSize(rule))
  }

  /// How long nothing passes at most; nil where something passes.
  func refusal(at now: MonotonicInstant) -> Duration? {
    switch state {
    case .closed: nil
    case .open(let until): now < until ? now.duration(to: until) : nil
    case .trying(let until): now < until && running + ended >= trials ? now.duration(to: until) : nil
    }
  }

  /// Asks whether an exchange may be sent.
  mutating func enter(at now: MonotonicInstant) -> Entrance {
    if let left = refusal(at: now) { return .refused(for: left) }
    switch state {
    case .closed: return .pass(round: round, isTrial: false)
    case .open(let until), .trying(let until):
      if now >= until { begin(.trying(until: now.advanced(by: rule.pause))) }
      running += 1
      return .pass(round: round, isTrial: true)
    }
  }

  /// Tells the result of an exchange that was let through. Returns whether the circuit opened by it.
  @discardableResult
  mutating func end(_ result: Result, of round: UInt64, at now: MonotonicInstant) -> Bool {
    guard round == self.round else { return false }
    switch state {
    case .closed: return count(result, now)
    case .trying: return judge(result, now)
    case .open: return false
    }
  }

  private mutating func count(_ result: Result, _ now: MonotonicInstant) -> Bool {
    guard result != .nothing else { return false }
    window.add(isFailure: result == .failure)
    guard result == .failure, window.count >= min(max(rule.least, 1), Self.windowSize(rule)),
      isTooMany(window.failures, of: window.count)
    else { return false }
    begin(.open(until: now.advanced(by: rule.pause)))
    return true
  }

  private mutating func judge(_ result: Result, _ now: MonotonicInstant) -> Bool {
    running -= 1
    guard result != .nothing else { return false }
    ended += 1
    if result == .failure { failed += 1 }
    if isTooMany(failed, of: trials) {
      begin(.open(until: now.advanced(by: rule.pause)))
      return true
    }
    if ended == trials { begin(.closed) }
    return false
  }

  private mutating func begin(_ state: State) {
    self.state = state
    round += 1
    (running, ended, failed) = (0, 0, 0)
    window = ResultWindow(size: Self.windowSize(rule))
  }

  private var trials: Int { max(rule.trials, 1) }

  private func isTooMany(_ failures: Int, of count: Int) -> Bool {
    failures > 0 && Double(failures) >= min(rule.share, 1) * Double(count)
  }

  private static func windowSize(_ rule: BreakerRule) -> Int { min(max(rule.window, 1), 10_000) }
}

/// The last results, and how many of them were failures.
struct ResultWindow: Sendable {
  private let size: Int
  private var results: [Bool] = []
  private var next = 0
  private(set) var failures = 0

  init(size: Int) { self.size = size }

  var count: Int { results.count }

  mutating func add(isFailure: Bool) {
    if isFailure { failures += 1 }
    if results.count < size { return results.append(isFailure) }
    if results[next] { failures -= 1 }
    results[next] = isFailure
    next = (next + 1) % size
  }
}
