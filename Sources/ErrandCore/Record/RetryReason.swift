/// Why an exchange was tried again.
public enum RetryReason: Sendable, Hashable, CustomStringConvertible {
  /// The server answered with a status that promises more of another try.
  case status(Int)
  /// No answer came.
  case failure(TransportFailure.Kind)
  /// No answer came in good time, and the request was sent a second time beside the first (``HedgeRule``).
  case slow

  /// A short clause such as `status 503`.
  public var description: String {
    switch self {
    case .status(let status): "status \(status)"
    case .failure(let kind): kind.rawValue
    case .slow: "slow"
    }
  }
}

/// One time that an exchange was tried again, asked of another server, or sent a second time.
public struct RetryMetrics: Sendable, Hashable {
  /// Why.
  public var reason: RetryReason
  /// What was waited before.
  public var delay: Duration

  /// Describes one.
  public init(reason: RetryReason, delay: Duration) {
    self.reason = reason
    self.delay = delay
  }
}
