/// Decides whether requests are sent to an origin: a circuit breaker as a state machine without a clock or a lock.
///
/// ```
/// closed   ── too many failures ──▶ open        everything passes; the last results are counted
/// open     ── the pause is over ──▶ trying      nothing passes
/// trying   ── few failures      ──▶ closed      a fixed number of trials passes
///          ── too many failures ──▶ open
///          ── the pause is over ──▶ trying      with new trials, so that a trial that hangs blocks no call forever
/// ```
///
/// Each change of the state starts a new **round**. Results of earlier rounds are ignored.
struct Breaker: Sendable {
  enum State: Sendable, Equatable {
    case closed
    case open(until: MonotonicInstant)
    case trying(until: MonotonicInstant)

    /// The end of the current pause; nil if there is none.
    var pauseEnds: MonotonicInstant? {
      switch self {
      case .closed: nil
      case .open(let until), .trying(let until): until
      }
    }
  }

  /// The result of an exchange.
  enum Result: Sendable {
    case success, failure
    /// The result says nothing about the origin: the call was cancelled, for example.
    case nothing
  }

  enum Entrance: Sendable, Equatable {
    /// The request may be sent. Its result is reported together with the round.
    case pass(round: UInt64, isTrial: Bool)
    /// The request is rejected, for at most this duration.
    case refused(for: Duration)
  }

  let rule: BreakerRule
  private(set) var state = State.closed
  private(set) var round: UInt64
  private var window: ResultWindow
  /// The numbers of trials in this round that run, that have ended, and that have failed.
  private var running = 0
  private var ended = 0
  private var failed = 0

  /// - Parameter round: The last round of the breaker that the new breaker replaces.
  init(_ rule: BreakerRule, after round: UInt64 = 0) {
    self.rule = rule
    self.round = round + 1
    window = ResultWindow(size: Self.windowSize(rule))
  }

  /// The longest time for which all requests are rejected; nil if a request may pass.
  func refusal(at now: MonotonicInstant) -> Duration? {
    switch state {
    case .closed: nil
    case .open(let until): now < until ? now.duration(to: until) : nil
    case .trying(let until): now < until && running + ended >= trials ? now.duration(to: until) : nil
    }
  }

  /// Decides whether an exchange may be sent.
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

  /// Records the result of an admitted exchange. Returns whether this result opened the circuit.
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

/// The last results of a circuit breaker, and the number of failures among them.
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
