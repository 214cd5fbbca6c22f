/// When a stream of events is requested again after an interruption.
public struct ReconnectRule: Sendable, Hashable {
  /// How many successive attempts may fail before the last failure is thrown. A complete line, even of a comment,
  /// resets the count.
  public var attempts: Int
  /// The wait before the first attempt, unless the server sets another wait by `retry:`. Each successive failure
  /// doubles the wait.
  public var delay: Duration
  /// The longest wait, unless the server asks for a longer one.
  public var longestDelay: Duration

  /// Makes a rule.
  public init(attempts: Int = 10, delay: Duration = .seconds(3), longestDelay: Duration = .seconds(60)) {
    self.attempts = attempts
    self.delay = delay
    self.longestDelay = longestDelay
  }

  /// Ten successive attempts, with waits from 3 to 60 seconds.
  public static let standard = ReconnectRule()
  /// The stream ends with the response, and failures are thrown.
  public static let never = ReconnectRule(attempts: 0)
}
