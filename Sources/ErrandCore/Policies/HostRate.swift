/// How often a host may be asked: a bucket of tokens for each of its origins, one token for each exchange.
///
/// A bucket holds `burst` tokens and begins full; `requests` of them come back during `time`, one by one. Redirects and
/// further attempts take tokens too. Calls for whom there is none wait in the queue, and to their deadline at most.
///
/// ```swift
/// configuration.admission.rates = [HostRate("api.example.com", requests: 10, burst: 20)]
/// ```
///
/// A host with a rate is believed when it answers 429 with `Retry-After` (RFC 6585 section 4, RFC 9110 section 10.2.3):
/// nobody asks it before that moment, but for one hour at most, and then the bucket is empty. What cannot be read, or
/// lies in the past, has no effect. The answer itself goes to its caller.
public struct HostRate: Sendable, Hashable {
  /// How many exchanges may begin during ``time``, on average.
  public let requests: Int
  /// The time that ``requests`` are counted over.
  public let time: Duration
  /// How many may begin at once after a pause.
  public let burst: Int
  private let pattern: HostPattern

  /// Makes a rate for a host such as `api.example.com`, or for each host below a name that begins with a dot, such as
  /// `.example.com`.
  ///
  /// - Parameters:
  ///   - host: The host, as in ``HostCacheRule``.
  ///   - requests: Less than one counts as one.
  ///   - time: One second where nothing is said; held to between a microsecond and a day.
  ///   - burst: `requests` where nothing is said; less than one counts as one.
  public init(_ host: String, requests: Int, per time: Duration = .seconds(1), burst: Int? = nil) {
    pattern = HostPattern(host)
    self.requests = max(requests, 1)
    self.time = min(max(time, .microseconds(1)), .seconds(86_400))
    self.burst = max(burst ?? requests, 1)
  }

  func covers(_ host: String) -> Bool { pattern.covers(host) }
}
