/// When a stream of events is asked for anew after a break.
public struct ReconnectRule: Sendable, Hashable {
  /// How many attempts in a row may fail before the last failure is thrown. A line that comes whole begins the count
  /// anew, also that of a comment.
  public var attempts: Int
  /// How long to wait before the first attempt, until the server says otherwise by `retry:`. Each failure in a row
  /// doubles it.
  public var delay: Duration
  /// The longest wait, unless the server wants a longer one.
  public var longestDelay: Duration

  /// Makes a rule.
  public init(attempts: Int = 10, delay: Duration = .seconds(3), longestDelay: Duration = .seconds(60)) {
    self.attempts = attempts
    self.delay = delay
    self.longestDelay = longestDelay
  }

  /// Ten attempts in a row, after 3 seconds and more.
  public static let standard = ReconnectRule()
  /// The end of the answer is the end of the stream, and what fails is thrown.
  public static let never = ReconnectRule(attempts: 0)
}
