/// Whether and how a call is tried again where its exchange fails.
///
/// ```swift
/// configuration.retries = .standard              // three attempts in all
/// var retries: RetryPolicy? { RetryPolicy(attempts: 5, statuses: [503]) }   // one request says otherwise
/// ```
///
/// What may be repeated at all says ``APIRequest/idempotency``. The deadline of the call covers attempts and waits
/// together: a wait that would reach past it is not begun, and the failure is told at once.
public struct RetryPolicy: Sendable, Hashable {
  /// How many attempts there are in all, the first among them; less than two means that nothing is tried again.
  public var attempts: Int
  /// The statuses after which the call is tried again.
  public var statuses: Set<Int>
  /// The longest wait before the first new attempt; it doubles from attempt to attempt. What is waited is drawn between
  /// nothing and that, so that many callers do not come back together.
  public var firstDelay: Duration
  /// The same after 429 and 503, where a server says that it has too much to do.
  public var busyDelay: Duration
  /// What no wait is longer than, unless the server asks for more.
  public var longestDelay: Duration
  /// The longest `Retry-After` that is obeyed (RFC 9110 section 10.2.3). Where the server wants more, its answer is
  /// delivered at once.
  public var longestRetryAfter: Duration
  /// When a slow read is sent a second time beside the first; nil for never.
  public var hedging: HedgeRule?

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - attempts: How many attempts there are in all.
  ///   - statuses: The statuses after which the call is tried again.
  ///   - firstDelay: The longest wait before the first new attempt.
  ///   - busyDelay: The same after 429 and 503.
  ///   - longestDelay: What no wait is longer than by itself.
  ///   - longestRetryAfter: The longest `Retry-After` that is obeyed.
  ///   - hedging: When a slow read is sent a second time beside the first; nil for never.
  public init(
    attempts: Int = 3, statuses: Set<Int> = [408, 429, 502, 503, 504], firstDelay: Duration = .milliseconds(100),
    busyDelay: Duration = .milliseconds(500), longestDelay: Duration = .seconds(20),
    longestRetryAfter: Duration = .seconds(60), hedging: HedgeRule? = nil
  ) {
    self.attempts = attempts
    self.statuses = statuses
    self.firstDelay = firstDelay
    self.busyDelay = busyDelay
    self.longestDelay = longestDelay
    self.longestRetryAfter = longestRetryAfter
    self.hedging = hedging
  }

  /// Three attempts in all.
  public static let standard = RetryPolicy()
  /// One attempt. The transport still puts on the wire again what never left this machine and, once, what may be
  /// repeated where a kept connection dies under it before a byte of the answer.
  public static let never = RetryPolicy(attempts: 1)
}
