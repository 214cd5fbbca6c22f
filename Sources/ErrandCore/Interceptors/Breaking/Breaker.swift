import ErrandSupport

/// A circuit breaker, which decides whether requests are sent to an origin. The type is a state machine without a clock
/// or a lock.
///
/// ```
/// state     requests in this state            event                  next state
/// closed    all requests pass                 too many failures  ──▶ open
/// open      no request passes                 the pause is over  ──▶ trying
/// trying    a fixed number of trials passes   few failures       ──▶ closed
///                                             too many failures  ──▶ open
///                                             the pause is over  ──▶ trying, with new trials
/// ```
///
/// In the state `closed` the last results are counted. In the state `trying` new trials start after the pause, so that
/// trials that hang do not block all calls forever.
///
/// Each change of the state starts a new **generation**. Results of earlier generations are ignored.
struct Breaker: Sendable {
  enum State: Sendable, Equatable {
    case closed
    case open(until: MonotonicInstant)
    case trying(until: MonotonicInstant)

    /// The end of the current pause; nil if the circuit is closed.
    var pauseEnds: MonotonicInstant? {
      switch self {
      case .closed: nil
      case .open(let until), .trying(let until): until
      }
    }
  }

  enum Result: Sendable {
    case success, failure
    /// The result of the exchange says nothing about the origin, for example because the call was cancelled.
    case nothing
  }

  enum Admission: Sendable, Equatable {
    /// The request may be sent. The caller reports the result of the request together with `generation`.
    case admitted(generation: UInt64, isTrial: Bool)
    /// The request is rejected. The circuit breaker rejects requests for at most this duration.
    case rejected(for: Duration)
  }

  let rule: BreakerRule
  private(set) var state = State.closed
  private(set) var generation: UInt64
  private var window: ResultWindow
  /// The number of running trials of the current generation. A trial is a request that tests whether the origin has
  /// recovered.
  private var running = 0
  /// The number of trials of the current generation that have ended.
  private var ended = 0
  /// The number of trials of the current generation that have failed.
  private var failed = 0

  /// Makes a circuit breaker whose circuit is closed.
  ///
  /// - Parameter generation: The generation of the circuit breaker that this circuit breaker replaces; zero if it
  ///   replaces none.
  init(_ rule: BreakerRule, after generation: UInt64 = 0) {
    self.rule = rule
    self.generation = generation + 1
    window = ResultWindow(size: Self.windowSize(rule))
  }

  /// The remaining time of the pause if no request may be sent now; nil if a request may be sent.
  ///
  /// - Parameter isNested: Whether an admitted request to the origin waits for this request. This request is then part
  ///   of a trial, so the number of trials does not limit it.
  func rejectionTime(at now: MonotonicInstant, isNested: Bool = false) -> Duration? {
    switch state {
    case .closed: nil
    case .open(let until): now < until ? now.duration(to: until) : nil
    case .trying(let until):
      now < until && running + ended >= trials && !isNested ? now.duration(to: until) : nil
    }
  }

  /// Decides whether an exchange may be sent, and counts the exchange if it is a trial.
  mutating func admit(at now: MonotonicInstant, isNested: Bool = false) -> Admission {
    if let left = rejectionTime(at: now, isNested: isNested) { return .rejected(for: left) }
    switch state {
    case .closed: return .admitted(generation: generation, isTrial: false)
    case .open(let until), .trying(let until):
      if now >= until { begin(.trying(until: now.advanced(by: rule.pause))) }
      running += 1
      return .admitted(generation: generation, isTrial: true)
    }
  }

  /// Records the result of an admitted exchange. Returns whether this result opened the circuit.
  @discardableResult
  mutating func end(_ result: Result, of generation: UInt64, at now: MonotonicInstant) -> Bool {
    guard generation == self.generation else { return false }
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
    generation += 1
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
  private var results = Ring<Bool>()
  private(set) var failures = 0

  init(size: Int) { self.size = size }

  var count: Int { results.unordered.count }

  mutating func add(isFailure: Bool) {
    if isFailure { failures += 1 }
    if results.append(isFailure, limit: size) == true { failures -= 1 }
  }
}

/// The circuit breakers of a client, one for each origin. All calls of the client share them.
package final class BreakerControl: Sendable {
  /// The largest number of stored circuit breakers. If the number is reached, all circuit breakers that are closed or
  /// whose pause is over are removed. If no circuit breaker is in such a state, the one whose pause ends first is
  /// removed.
  private static let most = 1_000

  private let breakers = Locked<[HTTPURL.Origin: Breaker]>([:])

  package init() {}

  /// The remaining time of an origin's pause if no request may be sent to the origin now; nil if a request may be sent.
  func rejectionTime(
    _ origin: HTTPURL.Origin, _ rule: BreakerRule, at now: MonotonicInstant, isNested: Bool = false
  ) -> Duration? {
    breakers.withLock { breakers in
      guard let breaker = breakers[origin], breaker.rule == rule else { return nil }
      return breaker.rejectionTime(at: now, isNested: isNested)
    }
  }

  /// Decides whether an exchange may be sent. If the rule has changed, a new circuit breaker replaces the circuit
  /// breaker of the origin.
  func admit(
    _ origin: HTTPURL.Origin, _ rule: BreakerRule, at now: MonotonicInstant, isNested: Bool = false
  ) -> Breaker.Admission {
    breakers.withLock { breakers in
      if breakers.count >= Self.most, breakers[origin] == nil { Self.makeSpace(in: &breakers, at: now) }
      var breaker = breakers[origin] ?? Breaker(rule)
      if breaker.rule != rule { breaker = Breaker(rule, after: breaker.generation) }
      defer { breakers[origin] = breaker }
      return breaker.admit(at: now, isNested: isNested)
    }
  }

  private static func makeSpace(in breakers: inout [HTTPURL.Origin: Breaker], at now: MonotonicInstant) {
    breakers = breakers.filter { $0.value.state.pauseEnds.map { $0 > now } ?? false }
    guard breakers.count >= most else { return }
    let first = breakers.min { ($0.value.state.pauseEnds ?? now) < ($1.value.state.pauseEnds ?? now) }
    if let first { breakers[first.key] = nil }
  }

  var count: Int { breakers.withLock { $0.count } }

  /// Records the result of an admitted exchange. Returns whether this result opened the circuit.
  func end(
    _ result: Breaker.Result, _ origin: HTTPURL.Origin, of generation: UInt64, at now: MonotonicInstant
  ) -> Bool {
    breakers.withLock { $0[origin]?.end(result, of: generation, at: now) ?? false }
  }
}

/// The cause of an error with the code ``APIError/Code/circuitOpen``.
public struct CircuitOpen: Error, Sendable, Hashable, CustomStringConvertible {
  /// The origin that keeps failing.
  public let origin: HTTPURL.Origin
  /// The longest time for which further calls are rejected. The rejections end earlier if test requests show that the
  /// origin has recovered.
  public let timeLeft: Duration

  /// The reason for the rejection as a part of a sentence. The text contains the origin and the remaining time.
  public var description: String {
    "too many calls to \(origin) failed; new calls are rejected for at most \(timeLeft)"
  }
}

extension APIError {
  static func circuitOpen(_ origin: HTTPURL.Origin, for timeLeft: Duration) -> APIError {
    let seconds = (max(timeLeft.clampedNanoseconds, 1) - 1) / 1_000_000_000 + 1
    return APIError(
      .admission, .circuitOpen,
      "Too many of the last calls to \(origin) failed, so the request was not sent; "
        + "the origin is tried again in at most \(seconds) \(seconds == 1 ? "second" : "seconds").",
      cause: CircuitOpen(origin: origin, timeLeft: timeLeft))
  }
}
