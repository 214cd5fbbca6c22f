/// What was measured of a call.
public struct CallMetrics: Sendable, Hashable {
  /// From the start to the end of the work, before delivery.
  public var total: Duration = .zero
  /// Waiting for a place among the exchanges that may run at once.
  public var queue: Duration = .zero
  /// Decoding the body.
  public var decode: Duration = .zero
  /// How many times something was put on the wire.
  public var attempts = 0
  /// Why and after what wait exchanges were tried again, in order; that a kept connection died under one and it was
  /// sent once more is among them where the transport tells.
  public var retries: [RetryMetrics] = []
  /// How many redirects were followed.
  public var redirects = 0
  /// Whether the answer, or the failure, came from an exchange that another call had begun.
  public var isJoined = false
  /// What the cache did and why; nil where none was asked.
  public var cache: CacheReport?
  /// What was measured of each exchange that was handed to the transport, in the order in which they began.
  ///
  /// One that a cancel or the deadline ended, or that was left behind, has what was known by then: its
  /// ``ErrandHTTP/ExchangeMetrics/total`` at least, and where the transport tells, how far it had come.
  public var exchanges: [ExchangeMetrics] = []

  /// Makes empty metrics.
  public init() {}

  /// Bytes sent over all exchanges.
  public var bytesSent: Int64 { exchanges.reduce(0) { $0 + $1.bytesSent } }
  /// Bytes received over all exchanges, as they came over the wire.
  public var bytesReceived: Int64 { exchanges.reduce(0) { $0 + $1.bytesReceived } }
}
