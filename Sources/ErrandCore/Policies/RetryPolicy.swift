/// Whether and how a call is tried again if its exchange fails.
///
/// ```swift
/// configuration.retries = .standard              // three attempts in all
/// var retries: RetryPolicy { RetryPolicy(attempts: 5, statuses: [503]) }   // one request says otherwise
/// ```
///
/// ``APIRequest/idempotency`` decides whether a request may be repeated at all. The deadline of the call covers
/// attempts and waits together: a wait that would exceed it does not start, and the failure is returned at once.
public struct RetryPolicy: Sendable, Hashable {
  /// True if the policy of the family or the client applies. Changing any property sets this to false.
  private(set) var isInherited = false
  /// The number of attempts including the first; less than two means that nothing is tried again.
  public var attempts: Int { didSet { isInherited = false } }
  /// The statuses after which the call is tried again.
  public var statuses: Set<Int> { didSet { isInherited = false } }
  /// The longest wait before the first new attempt. The longest wait doubles with each further attempt. The actual wait
  /// is a random time between zero and the longest wait, so that many callers do not retry at the same moment.
  public var firstDelay: Duration { didSet { isInherited = false } }
  /// The longest wait before the first new attempt after status 429 or 503, by which a server reports overload.
  public var busyDelay: Duration { didSet { isInherited = false } }
  /// The upper limit of all waits, unless the server asks for a longer wait by `Retry-After`.
  public var longestDelay: Duration { didSet { isInherited = false } }
  /// The longest `Retry-After` that is respected (RFC 9110 section 10.2.3). If the server asks for a longer wait, its
  /// response is returned at once.
  public var longestRetryAfter: Duration { didSet { isInherited = false } }
  /// When a slow read is sent a second time in parallel; nil for never.
  public var hedging: HedgeRule? { didSet { isInherited = false } }

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - attempts: The number of attempts including the first.
  ///   - statuses: The statuses after which the call is tried again.
  ///   - firstDelay: The longest wait before the first new attempt.
  ///   - busyDelay: The longest wait before the first new attempt after status 429 or 503.
  ///   - longestDelay: The upper limit of all waits, unless the server asks for a longer wait.
  ///   - longestRetryAfter: The longest `Retry-After` that is respected.
  ///   - hedging: When a slow read is sent a second time in parallel; nil for never.
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

  /// The inherited policy. A call inherits from its request, a request from its family, and a family from the client.
  /// If none of them declares a policy, it is ``none``.
  public static let inherited = {
    var policy = RetryPolicy(attempts: 1)
    policy.isInherited = true
    return policy
  }()
  /// Three attempts including the first.
  public static let standard = RetryPolicy()
  /// One attempt. The transport still repeats a request that never left this device. It also repeats a request once if
  /// repeating is allowed and a reused connection closes before the first byte of the response.
  public static let none = RetryPolicy(attempts: 1)

  /// Whether more than one request may be sent.
  var sendsAgain: Bool { attempts > 1 || hedging != nil }

  /// Returns this policy, or `other` if this policy is inherited.
  func filled(by other: RetryPolicy?) -> RetryPolicy { isInherited ? other ?? self : self }
}

/// When a slow read is sent a second time, so that the faster response is used.
///
/// The server gets up to one additional request for each call. The additional request counts against the budget for
/// retries. Only requests with a safe method and without a body are sent twice, and never if a sink receives the
/// response.
public struct HedgeRule: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case after(Duration)
    case share(Double, least: Duration)
  }

  let kind: Kind

  /// Sends the second request when no response has arrived after a time.
  public static func after(_ time: Duration) -> HedgeRule { HedgeRule(kind: .after(time)) }

  /// Sends the second request when the call takes longer than a share of the last calls to its origin: with 0.95 one of
  /// twenty is sent twice. The second request is sent after `least` at the earliest, and only if at least twenty calls
  /// have been measured.
  public static func slowerThan(_ share: Double, least: Duration = .milliseconds(10)) -> HedgeRule {
    HedgeRule(kind: .share(share, least: least))
  }
}
