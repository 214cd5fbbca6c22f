/// The limits of a client: how many exchanges may run at once, how many calls may wait, and their order.
///
/// Waiting calls are ordered by priority, which grows while they wait. The owners of calls with equal priority take
/// turns, and the calls of one owner are admitted in their order of arrival.
public struct AdmissionLimits: Sendable, Hashable {
  /// The largest number of exchanges that may run with one origin. The default is 64; less than one counts as one.
  public var perHost: Int { didSet { perHost = max(perHost, 1) } }
  /// The largest number of exchanges that may run in total. The default is 256; less than one counts as one.
  public var total: Int { didSet { total = max(total, 1) } }
  /// The largest number of calls that may wait. One call more fails at once with ``APIError/Code/queueFull``. The
  /// default is 100,000; with zero no call waits.
  public var waiting: Int { didSet { waiting = max(waiting, 0) } }
  /// How long a call waits until it is one step more urgent, up to ``ErrandHTTP/CallPriority/high``, so that no call
  /// waits forever. The default is 5 seconds. With nil, zero or less, priorities do not change, and urgent calls can
  /// delay others without end.
  public var ageing: Duration? { didSet { ageing = Self.sensible(ageing) } }
  /// How often certain hosts are asked. The first rate that covers a host applies. Hosts without a rate have only the
  /// limits ``perHost`` and ``total``.
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

  /// The rate of a host, which is given in lower case; nil if the host has no rate.
  func rate(of host: String) -> HostRate? { rates.first { $0.covers(host) } }
}
