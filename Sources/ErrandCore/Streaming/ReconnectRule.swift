/// The rule by which an event stream (server-sent events) is requested again after an interruption.
public struct ReconnectRule: Sendable, Hashable {
  /// The number of successive attempts that may fail before the last failure is thrown. Each complete line that the
  /// stream receives, even a comment line, resets the count to zero.
  public var attempts: Int
  /// The wait between an interruption and the first attempt to reconnect, unless the server sets another wait in a
  /// `retry:` line of the stream. Each successive failure doubles the wait.
  public var delay: Duration
  /// The upper limit of the doubled wait, unless the server asks for a longer wait. Up to half of the wait is added at
  /// random, so that many clients do not reconnect at the same time.
  public var longestDelay: Duration

  /// Makes a rule.
  public init(attempts: Int = 10, delay: Duration = .seconds(3), longestDelay: Duration = .seconds(60)) {
    self.attempts = attempts
    self.delay = delay
    self.longestDelay = longestDelay
  }

  /// At most ten successive attempts, with waits from 3 to 60 seconds.
  public static let standard = ReconnectRule()
  /// The stream is never requested again: it ends when the response ends, and it throws the first failure.
  public static let never = ReconnectRule(attempts: 0)
}

/// The decision whether a stream of events reconnects after a connection has ended. The decision depends only on the
/// parameters of ``decide(_:_:failures:serverDelay:chance:)``.
enum ReconnectDecision: Equatable {
  case connect(after: Duration)
  /// The stream does not reconnect. It ends, or it throws the error of the connection.
  case stop

  enum ConnectionEnd {
    /// The response ended normally.
    case end
    /// The connection failed. `hasLines` is true if at least one complete line had arrived on it before.
    case failure(APIError, retryAfter: Duration?, hasLines: Bool = false)
  }

  /// The shortest delay that a server can set by a `retry:` line. Without this limit, a server could make clients
  /// reconnect without a pause.
  static var leastServerDelay: Duration { .milliseconds(100) }

  /// Decides whether and when to reconnect.
  /// - Parameters:
  ///   - failures: The number of connections that have ended since the last complete line, including the connection
  ///     that has just ended.
  ///   - serverDelay: The delay that the server set by a `retry:` line; nil for none.
  ///   - chance: A random number from 0 to 1. This fraction of half the delay is added to the delay, so that many
  ///     clients do not reconnect at the same time.
  static func decide(
    _ ended: ConnectionEnd, _ rule: ReconnectRule, failures: Int, serverDelay: Duration?, chance: Double
  ) -> ReconnectDecision {
    guard failures <= rule.attempts, mayHelp(ended) else { return .stop }
    let first = serverDelay.map { max($0, leastServerDelay) } ?? rule.delay
    var delay = max(first.doubled(upTo: rule.longestDelay, attempt: failures), serverDelay ?? .zero)
    if case .failure(_, let after?, _) = ended { delay = max(delay, after) }
    return .connect(after: delay + delay / 2 * min(max(chance, 0), 1))
  }

  private static func mayHelp(_ ended: ConnectionEnd) -> Bool {
    guard case .failure(let error, _, let hasLines) = ended else { return true }
    switch error.stage {
    case .transport: return mayHelp(error.transportKind, hasLines: hasLines)
    case .admission: return error.code == .circuitOpen || error.code == .queueFull
    case .authorize: return error.code == .refreshUnavailable
    // The connection broke, but an interceptor did not throw the failure.
    case .interceptor: return error.cause is IncompleteBody
    case .validate: return error.code == .status && [408, 429, 500, 502, 503, 504].contains(error.status)
    default: return false
    }
  }

  private static func mayHelp(_ kind: TransportFailure.Kind?, hasLines: Bool) -> Bool {
    switch kind {
    // A lost network may become available again.
    case .offline: true
    // Lines were decoded before the failure, so the coding is known and the compressed data was cut off. If a proxy
    // ends the framing properly, the missing end of the compressed data is the only sign of the lost connection.
    case .undecodableContent: hasLines
    default: kind?.isPassing == true
    }
  }
}
