/// The measurements of a call.
public struct CallMetrics: Sendable, Hashable {
  /// The time from the start of the call until its result is known, without the delivery of the result.
  public var total: Duration = .zero
  /// The time that the call waited because of the limits on concurrent exchanges.
  public var queue: Duration = .zero
  /// The time to decode the body.
  public var decode: Duration = .zero
  /// How many times a request was sent over the network.
  public var attempts = 0
  /// Why exchanges were tried again and after which delay, in order. If the transport reports it, the list includes a
  /// repetition after a reused connection turned out to be closed.
  public var retries: [RetryMetrics] = []
  /// How many redirects were followed.
  public var redirects = 0
  /// Whether the call shared an exchange that another call had started.
  public var isJoined = false
  /// The decision of the cache with its reason; nil if the call did not use the cache.
  public var cache: CacheReport?
  /// The measurements of each exchange that was handed to the transport, in the order of their starts.
  ///
  /// An exchange that was cancelled, timed out or abandoned has the values that were known at that time: at least its
  /// ``ErrandHTTP/ExchangeMetrics/total``, and its progress if the transport reports it.
  public var exchanges: [ExchangeMetrics] = []

  /// Makes empty metrics.
  public init() {}

  /// Bytes sent over all exchanges.
  public var bytesSent: Int64 { exchanges.reduce(0) { $0 + $1.bytesSent } }
  /// Bytes received over all exchanges, as transferred over the network.
  public var bytesReceived: Int64 { exchanges.reduce(0) { $0 + $1.bytesReceived } }
}

/// Why an exchange was tried again.
public enum RetryReason: Sendable, Hashable, CustomStringConvertible {
  /// The server responded with a status for which another attempt may succeed.
  case status(Int)
  /// There was no response.
  case failure(TransportFailure.Kind)
  /// There was no response in time, and the request was sent a second time in parallel (``HedgeRule``).
  case slow

  /// A short clause such as `status 503`.
  public var description: String {
    switch self {
    case .status(let status): "status \(status)"
    case .failure(let kind): kind.rawValue
    case .slow: "slow"
    }
  }
}

/// One repetition: an exchange that was tried again, sent to another server, or sent a second time in parallel.
public struct RetryMetrics: Sendable, Hashable {
  /// The reason.
  public var reason: RetryReason
  /// The wait before the repetition.
  public var delay: Duration

  /// Makes a value.
  public init(reason: RetryReason, delay: Duration) {
    self.reason = reason
    self.delay = delay
  }
}
