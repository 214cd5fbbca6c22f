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
public struct HostRate: Sendable, Hashable {
  /// How many exchanges may start during ``time``, on average.
  public let requests: Int
  /// The period in which ``requests`` exchanges may start, on average.
  public let time: Duration
  /// How many exchanges may start at once after a long time without exchanges.
  public let burst: Int
  private let pattern: HostPattern

  /// Makes a rate limit for a host such as `api.example.com`, or for each host below a name that begins with a dot,
  /// such as `.example.com`.
  ///
  /// - Parameters:
  ///   - host: The host, in the same form as in ``HostCacheRule``.
  ///   - requests: How many exchanges may start during `time`, on average. Less than one counts as one.
  ///   - time: The period in which `requests` exchanges may start, from a microsecond to a day. The default is one
  ///     second.
  ///   - burst: How many exchanges may start at once after a long time without exchanges. The default is `requests`;
  ///     less than one counts as one.
  public init(_ host: String, requests: Int, per time: Duration = .seconds(1), burst: Int? = nil) {
    pattern = HostPattern(host)
    self.requests = max(requests, 1)
    self.time = min(max(time, .microseconds(1)), .seconds(86_400))
    self.burst = max(burst ?? requests, 1)
  }

  func covers(_ host: String) -> Bool { pattern.covers(host) }
}
