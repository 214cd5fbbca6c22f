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
