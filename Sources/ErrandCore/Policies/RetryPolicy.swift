import ErrandSupport

/// Whether and how a call is tried again if its HTTP exchange fails.
///
/// ```swift
/// configuration.retries = .standard              // three attempts in all
/// var retries: RetryPolicy { RetryPolicy(attempts: 5, statuses: [503]) }   // in the declaration of one request
/// ```
///
/// ``APIRequest/idempotency`` decides whether a request may be repeated at all. The deadline of the call covers
/// attempts and waits together: if a wait would exceed the deadline, the wait does not start, and the failure is
/// returned at once.
public struct RetryPolicy: Sendable, Hashable {
  private struct Settings: Sendable, Hashable {
    var attempts: Int
    var statuses: Set<Int>
    var firstDelay: Duration
    var busyDelay: Duration
    var longestDelay: Duration
    var longestRetryAfter: Duration
    var hedging: HedgeRule?
    var usesBudget = true
  }

  /// The settings are in one object, because each call copies policies of its options, its request and its client.
  private var settings: Boxed<Settings>
  /// True if the policy of the ``RequestFamily`` or of the client applies. A change of any other property sets this
  /// property to false.
  private(set) var isInherited = false

  /// The number of attempts including the first; less than two means that nothing is tried again.
  public var attempts: Int {
    get { settings.value.attempts }
    set { change { $0.attempts = newValue } }
  }
  /// The statuses after which the call is tried again.
  public var statuses: Set<Int> {
    get { settings.value.statuses }
    set { change { $0.statuses = newValue } }
  }
  /// The longest wait before the second attempt. The longest wait doubles with each further attempt. The actual wait is
  /// a random time between zero and the longest wait, so that many clients do not retry at the same moment.
  public var firstDelay: Duration {
    get { settings.value.firstDelay }
    set { change { $0.firstDelay = newValue } }
  }
  /// The longest wait before the second attempt if the status is 429 or 503, by which a server reports overload. This
  /// wait replaces ``firstDelay``.
  public var busyDelay: Duration {
    get { settings.value.busyDelay }
    set { change { $0.busyDelay = newValue } }
  }
  /// The upper limit of all waits, unless the server asks for a longer wait by `Retry-After`.
  public var longestDelay: Duration {
    get { settings.value.longestDelay }
    set { change { $0.longestDelay = newValue } }
  }
  /// The longest wait that the server may request by `Retry-After` (RFC 9110 section 10.2.3). If the server asks for a
  /// longer wait, its response is returned at once.
  public var longestRetryAfter: Duration {
    get { settings.value.longestRetryAfter }
    set { change { $0.longestRetryAfter = newValue } }
  }
  /// The rule by which a slow request is sent a second time in parallel; nil if no request is sent twice.
  public var hedging: HedgeRule? {
    get { settings.value.hedging }
    set { change { $0.hedging = newValue } }
  }

  /// Whether an attempt takes tokens from the retry budget of its origin. False only for a client that sends one request
  /// after another, so that its attempts cannot multiply the load on a server.
  package var usesBudget: Bool {
    get { settings.value.usesBudget }
    set { settings.change { $0.usesBudget = newValue } }
  }

  private mutating func change(_ body: (inout Settings) -> Void) {
    settings.change(body)
    isInherited = false
  }

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - attempts: The number of attempts including the first.
  ///   - statuses: The statuses after which the call is tried again.
  ///   - firstDelay: The longest wait before the second attempt.
  ///   - busyDelay: The longest wait before the second attempt if the status is 429 or 503.
  ///   - longestDelay: The upper limit of all waits, unless the server asks for a longer wait.
  ///   - longestRetryAfter: The longest wait that the server may request by `Retry-After`.
  ///   - hedging: The rule by which a slow request is sent a second time in parallel; nil if no request is sent twice.
  public init(
    attempts: Int = 3, statuses: Set<Int> = [408, 429, 502, 503, 504], firstDelay: Duration = .milliseconds(100),
    busyDelay: Duration = .milliseconds(500), longestDelay: Duration = .seconds(20),
    longestRetryAfter: Duration = .seconds(60), hedging: HedgeRule? = nil
  ) {
    settings = Boxed(
      Settings(
        attempts: attempts, statuses: statuses, firstDelay: firstDelay, busyDelay: busyDelay,
        longestDelay: longestDelay, longestRetryAfter: longestRetryAfter, hedging: hedging))
  }

  /// The policy is inherited: a call inherits the policy of its request, a request inherits the policy of its
  /// ``RequestFamily``, and a family inherits the policy of the client. If none of them sets a policy, the policy is
  /// ``none``.
  public static let inherited = {
    var policy = RetryPolicy(attempts: 1)
    policy.isInherited = true
    return policy
  }()
  /// Three attempts including the first.
  public static let standard = RetryPolicy()
  /// The client makes one attempt. The transport still repeats a request that never left this device. The transport
  /// also repeats a request once if repeating is allowed and a reused connection closes before the first byte of the
  /// response.
  public static let none = RetryPolicy(attempts: 1)

  /// Whether the policy allows more than one request for a call: by a retry, or by a second request in parallel.
  var sendsAgain: Bool { attempts > 1 || hedging != nil }

  func filled(by other: RetryPolicy?) -> RetryPolicy { isInherited ? other ?? self : self }
}

/// The rule for *hedging*: a request whose response is slow is sent a second time in parallel, and the faster response
/// is used.
///
/// The server gets up to one additional request for each call. The additional request takes tokens from the retry
/// budget of the origin. Only requests with a safe method and without a body are sent twice. Requests whose response
/// goes to a body sink are never sent twice.
public struct HedgeRule: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case after(Duration)
    case share(Double, least: Duration)
  }

  let kind: Kind

  /// Sends the second request if no response has arrived within the given time.
  public static func after(_ time: Duration) -> HedgeRule { HedgeRule(kind: .after(time)) }

  /// Sends the second request if the call takes longer than the given share of the last calls to the same origin. With
  /// a share of 0.95, about one request in twenty is sent twice. The second request is sent after the time `least` at
  /// the earliest, and only if the response times of at least twenty calls are known. The time of a response with the
  /// status 408, 429 or 5xx does not count.
  public static func slowerThan(_ share: Double, least: Duration = .milliseconds(10)) -> HedgeRule {
    HedgeRule(kind: .share(share, least: least))
  }
}

/// Whether sending a request twice has the same effect as sending the request once.
public enum Idempotency: Sendable, Hashable {
  /// The method decides: GET, HEAD, OPTIONS, QUERY, TRACE, PUT and DELETE may be repeated (RFC 9110 section 9.2.2).
  case byMethod
  /// The request may be repeated, whatever its method is, because the server is known to recognise repeated requests.
  case assumed
  /// The request may be repeated, because a field contains a key by which the server recognises a repeated request. The
  /// key is made once for a call and stays the same in all attempts. If the request itself sets the field, its key is
  /// kept.
  case keyed(HTTPFieldName = "Idempotency-Key")
  /// As soon as a byte of the request may have reached the server, the request is not repeated, whatever its method is.
  case never
}

extension Idempotency {
  /// Whether a request with the given method may be sent again although the server may already have processed the first
  /// attempt.
  package func allows(_ method: HTTPMethod) -> Bool {
    switch self {
    case .byMethod: method.isIdempotent
    case .assumed, .keyed: true
    case .never: false
    }
  }
}
