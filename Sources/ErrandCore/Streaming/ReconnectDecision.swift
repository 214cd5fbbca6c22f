/// What becomes of a stream of events that has broken off. A function of values.
enum ReconnectDecision: Equatable {
  case connect(after: Duration)
  /// The stream ends, or the failure is thrown.
  case stop

  /// How a connection ended.
  enum Break {
    /// The answer ended as it should.
    case end
    case failure(APIError, retryAfter: Duration?)
  }

  /// The shortest wait that a server can ask for: it would be asked without a pause for ever.
  static var leastTold: Duration { .milliseconds(100) }

  /// Decides.
  /// - Parameters:
  ///   - failures: The breaks since the last whole line, this one included.
  ///   - told: What the server said by `retry:`.
  ///   - chance: From 0 to 1; so much of half of the wait is added, so that not all come back together.
  static func decide(
    _ ended: Break, _ rule: ReconnectRule, failures: Int, told: Duration?, chance: Double
  ) -> ReconnectDecision {
    guard failures <= rule.attempts, mayHelp(ended) else { return .stop }
    var delay = told.map { max($0, leastTold) } ?? max(rule.delay, .zero)
    var turn = 1
    while turn < min(failures, 60), delay < rule.longestDelay {
      delay *= 2
      turn += 1
    }
    delay = max(min(delay, rule.longestDelay), told ?? .zero)
    if case .failure(_, let after?) = ended { delay = max(delay, after) }
    return .connect(after: delay + delay / 2 * min(max(chance, 0), 1))
  }

  private static func mayHelp(_ ended: Break) -> Bool {
    guard case .failure(let error, _) = ended else { return true }
    switch error.stage {
    // A network that is gone comes back: that is what a stream waits for.
    case .transport: return error.transportKind == .offline || error.transportKind?.isPassing == true
    case .admission: return error.code == .circuitOpen
    case .validate: return error.code == .status && [408, 429, 500, 502, 503, 504].contains(error.status)
    default: return false
    }
  }
}
