/// The rule by which an event stream (server-sent events) is requested again after an interruption.
public struct ReconnectRule: Sendable, Hashable {
  /// The number of successive attempts that may fail before the last failure is thrown. Each complete line that the
  /// stream receives, even a comment line, resets the count to zero.
  public var attempts: Int
  /// The wait between an interruption and the first attempt to reconnect, unless the server sets another wait in a
  /// `retry:` line of the stream. Each successive failure doubles the wait.
  public var delay: Duration
  /// The upper limit of the wait, unless the server asks for a longer wait.
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
