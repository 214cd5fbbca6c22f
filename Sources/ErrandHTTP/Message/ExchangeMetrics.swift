/// What was asked in one exchange, how it was answered, and what the transport measured of it. Durations count from the
/// moment the exchange was handed over.
///
/// ``method``, ``url`` and ``status`` stand in the ``ErrandCore/CallMetrics/exchanges`` of a call. A transport leaves
/// them out.
public struct ExchangeMetrics: Sendable, Hashable {
  /// The method that was sent.
  public var method: HTTPMethod?
  /// Where it was sent. What is printed of it shows no value of its query.
  public var url: HTTPURL?
  /// The status that it was answered with, 302 of a redirect or 304 of a stored answer that holds among them; nil where
  /// none came whole.
  public var status: Int?
  /// Until the transport took it up.
  public var queue: Duration?
  /// Until the host's name was resolved.
  public var nameLookup: Duration?
  /// Until the connection stood.
  public var connect: Duration?
  /// Until TLS stood.
  public var tls: Duration?
  /// Until the first line of the answer came.
  public var firstByte: Duration?
  /// Until the last byte came, or the exchange ended or was left without.
  public var total: Duration?
  /// Bytes of heads and body sent.
  public var bytesSent: Int64 = 0
  /// Bytes of heads and body received, as they came over the wire.
  public var bytesReceived: Int64 = 0
  /// Whether the connection had been used before; nil where the transport cannot tell.
  public var isConnectionReused: Bool?
  /// The version of HTTP that the answer came in.
  public var version: ResponseHead.Version?
  /// The address that answered, where the transport can tell.
  public var remoteAddress: String?

  /// When it was handed over, while it is under way; nil in all that is told.
  package var begun: MonotonicInstant?

  /// Makes empty metrics.
  public init() {}

  /// Notes what was measured of what was sent.
  package mutating func take(_ measured: ExchangeMetrics, status: Int? = nil) {
    let sent = (method, url)
    self = measured
    (method, url) = sent
    self.status = status
  }

  /// What is known of it where it is left at a moment.
  package func left(at now: MonotonicInstant) -> ExchangeMetrics {
    guard let begun else { return self }
    var left = self
    left.begun = nil
    left.total = begun.duration(to: now)
    return left
  }
}
