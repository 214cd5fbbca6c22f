/// How many exchanges of a client may run at once, how many calls may wait, and in which order they do.
///
/// Those that wait go by priority, which grows while they wait. Among equals the owners of calls take turns, and the
/// calls of one owner go in the order in which they came.
public struct AdmissionLimits: Sendable, Hashable {
  /// To one origin. 64 where nothing is said; less than one counts as one.
  public var perHost: Int { didSet { perHost = max(perHost, 1) } }
  /// In all. 256 where nothing is said; less than one counts as one.
  public var total: Int { didSet { total = max(total, 1) } }
  /// How many calls may wait: one more fails at once with ``APIError/Code/queueFull``. 100,000 where nothing is said;
  /// with zero nobody waits.
  public var waiting: Int { didSet { waiting = max(waiting, 0) } }
  /// How long a call waits until it is one step more urgent, up to ``ErrandHTTP/CallPriority/high``; so none waits for
  /// ever behind others. 5 seconds where nothing is said. With nil, or zero and less, priorities stay as they are, and
  /// urgent calls can hold others back without end.
  public var ageing: Duration? { didSet { ageing = Self.sensible(ageing) } }
  /// How often certain hosts are asked. The first that fits counts; the others are asked as often as the limits allow.
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

  /// The rate of a host in lower case; nil for one that is asked as often as the limits allow.
  func rate(of host: String) -> HostRate? { rates.first { $0.covers(host) } }
}
