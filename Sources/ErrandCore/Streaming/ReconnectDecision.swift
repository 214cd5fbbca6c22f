/// Decides whether a stream of events reconnects after a connection has ended: a pure function.
enum ReconnectDecision: Equatable {
  case connect(after: Duration)
  /// The stream does not reconnect. It ends, or it throws the error of the connection.
  case stop

  /// How a connection ended.
  enum Break {
    /// The response ended normally.
    case end
    case failure(APIError, retryAfter: Duration?)
  }

  /// The shortest delay that a server can set by `retry:`. Without this limit, a server could make clients reconnect
  /// without a pause.
  static var leastTold: Duration { .milliseconds(100) }

  /// Decides whether and when to reconnect.
  /// - Parameters:
  ///   - failures: The number of connections that have ended since the last complete line, including this one.
  ///   - told: The delay that the server set by `retry:`; nil for none.
  ///   - chance: A random number from 0 to 1. This fraction of half the delay is added to it, so that clients do not
  ///     reconnect at the same time.
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
    // If the network is lost, the stream reconnects until the network returns.
    case .transport: return error.transportKind == .offline || error.transportKind?.isPassing == true
    case .admission: return error.code == .circuitOpen
    case .validate: return error.code == .status && [408, 429, 500, 502, 503, 504].contains(error.status)
    default: return false
    }
  }
}
