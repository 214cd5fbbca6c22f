/// The admission limits of a client: how many exchanges may run at the same time, how many calls may wait, and in which
/// order waiting calls are admitted.
///
/// Waiting calls are ordered by priority. The priority of a call grows while the call waits. The owners (``CallOwner``)
/// of calls with equal priority take turns, and the calls of one owner are admitted in their order of arrival.
public struct AdmissionLimits: Sendable, Hashable {
  /// The largest number of exchanges that may run with one origin. The default is 64; less than one counts as one.
  public var perHost: Int { didSet { perHost = max(perHost, 1) } }
  /// The largest number of exchanges that may run in total. The default is 256; less than one counts as one.
  public var total: Int { didSet { total = max(total, 1) } }
  /// The largest number of calls that may wait. If so many calls already wait, a further call fails at once with
  /// ``APIError/Code/queueFull``. The default is 100,000. If the limit is zero, no call waits.
  public var waiting: Int { didSet { waiting = max(waiting, 0) } }
  /// The time after which the priority of a waiting call rises by one step, up to ``ErrandHTTP/CallPriority/high``, so
  /// that no call waits forever. The default is 5 seconds. If the time is nil, zero or less, priorities do not rise,
  /// and calls with a high priority can delay other calls without end.
  public var ageing: Duration? { didSet { ageing = Self.sensible(ageing) } }
  /// The rate limits of individual hosts. The first element that covers a host applies. Hosts without a rate limit have
  /// only the limits ``perHost`` and ``total``.
  public var rates: [HostRate]

  /// Makes limits.
  public init(
    perHost: Int = 64, total: Int = 256, waiting: Int = 100_000, ageing: Duration? = .seconds(5),
    rates: [HostRate] = []
  ) {
    self.perHost = max(perHost, 1)
    self.total = max(total, 1)
    self.waiting = max(waiting, 0)
    self.ageing = Self.sensible(ageing)
    self.rates = rates
  }

  private static func sensible(_ ageing: Duration?) -> Duration? { ageing.flatMap { $0 > .zero ? $0 : nil } }

  /// The rate limit of a host; nil if the host has no rate limit. The name of the host must be in lower case.
  func rate(of host: String) -> HostRate? { rates.first { $0.covers(host) } }
}

/// The rate limit of a host, which is a token bucket: each origin of the host has a bucket of tokens, and each exchange
/// takes one token.
///
/// A bucket starts full with `burst` tokens; `requests` tokens are added one by one during `time`. Redirects and
/// retries take tokens, too. A call that gets no token waits in the admission queue, at most until its deadline.
///
/// ```swift
/// configuration.admission.rates = [HostRate("api.example.com", requests: 10, burst: 20)]
/// ```
///
/// If a host with a rate responds with 429 and `Retry-After` (RFC 6585 section 4, RFC 9110 section 10.2.3), the host
/// gets no request until the moment in `Retry-After`, for at most one hour. At that moment the bucket is empty. A
/// `Retry-After` that is invalid or in the past has no effect. The caller receives the response with 429.
///
/// With `followsServer`, the host also gets no more requests than its responses allow in the field `RateLimit`
/// (draft-ietf-httpapi-ratelimit-headers-11), and `Retry-After` applies also with status 503. If a response says that
/// `r` requests of a policy remain for `t` seconds, no more exchanges start within this time, for at most one hour.
/// After this time, and after `Retry-After`, one exchange starts, and the others wait for its response headers, for at
/// most 10 seconds. If the time is longer than one minute, one exchange may start every 10 seconds, because the policy
/// may not cover it. Every policy counts that the responses of the origin have named.
public struct HostRate: Sendable, Hashable {
  /// How many exchanges may start during ``time``, on average.
  package let requests: Int
  /// The period in which ``requests`` exchanges may start, on average.
  package let time: Duration
  /// How many exchanges may start at once after a long time without exchanges.
  package let burst: Int
  /// Whether the field `RateLimit` of responses limits the requests, too.
  package let followsServer: Bool
  private let pattern: HostPattern

  /// Makes a rate limit for a host such as `api.example.com`, or for each host below a name that begins with a dot,
  /// such as `.example.com`.
  ///
  /// - Parameters:
  ///   - host: The host. Upper case, a scheme, a port and a path are ignored, so the rate applies to all ports. An IPv6
  ///     address may be in brackets.
  ///   - requests: How many exchanges may start during `time`, on average. Less than one counts as one.
  ///   - time: The period in which `requests` exchanges may start, from a microsecond to a day. The default is one
  ///     second.
  ///   - burst: How many exchanges may start at once after a long time without exchanges. The default is `requests`;
  ///     less than one counts as one.
  ///   - followsServer: Whether the field `RateLimit` of responses limits the requests, too. False by default.
  public init(
    _ host: String, requests: Int, per time: Duration = .seconds(1), burst: Int? = nil, followsServer: Bool = false
  ) {
    self.followsServer = followsServer
    pattern = HostPattern.ignoringRest(of: host)
    self.requests = max(requests, 1)
    self.time = min(max(time, .microseconds(1)), .seconds(86_400))
    self.burst = max(burst ?? requests, 1)
  }

  /// A rate that only the host's own responses limit: `followsServer` without an own bound of requests. The host has
  /// the form that ``init(_:requests:per:burst:followsServer:)`` describes.
  public static func followingServer(_ host: String) -> HostRate {
    HostRate(host, requests: 1_000_000_000, followsServer: true)
  }

  func covers(_ host: String) -> Bool { pattern.covers(host) }
}

/// The rule of a circuit breaker: while the circuit of an origin is open, calls to this origin are rejected at once. So
/// calls do not wait for an origin that keeps failing, and the origin can recover.
///
/// A failure is a response with a status of 500 or above, a time-out, or a missing response. If the deadline of a call
/// ends an exchange, this is a failure only if the server has sent no byte although it had one second, or half of the
/// total time-out if this is shorter, and only if the request body has at most 64 KiB. A cancelled call is not counted.
/// Failures on this device are not counted either, for example a missing network, a file that cannot be read, or an
/// error of an interceptor.
public struct BreakerRule: Sendable, Hashable {
  /// The share of failures among the last exchanges at which the circuit opens. The share is a number from 0 to 1. The
  /// default is 0.5.
  public var share: Double
  /// The number of most recent exchanges from which the share of failures is computed. The default is 100, the maximum
  /// 10,000.
  public var window: Int
  /// The number of exchanges that must have ended before the circuit may open. The default is 20.
  public var least: Int
  /// How long all calls are rejected after the circuit has opened. The default is one minute.
  public var pause: Duration
  /// The number of exchanges that are sent after the pause, to check whether the origin has recovered. The circuit
  /// closes if the share of failures among these exchanges is below ``share``. The default is 10.
  public var trials: Int

  /// Makes a rule. Parameters that are not given have the defaults that the properties describe.
  public init(
    share: Double = 0.5, window: Int = 100, least: Int = 20, pause: Duration = .seconds(60), trials: Int = 10
  ) {
    self.share = share
    self.window = window
    self.least = least
    self.pause = pause
    self.trials = trials
  }
}
