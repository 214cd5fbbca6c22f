/// The measurements of one exchange, with the method, the URL and the status. All durations are measured from the
/// moment at which the exchange was passed to the transport. A measurement is nil if the transport did not make it.
///
/// The library sets ``method``, ``url`` and ``status`` in the ``ErrandCore/CallMetrics/exchanges`` of a call. A
/// transport does not set the first two. It sets ``status`` in the metrics of a ``TransportFailure`` if the response
/// broke off after its status.
public struct ExchangeMetrics: Sendable, Hashable {
  /// The method that was sent.
  public var method: HTTPMethod?
  /// The URL to which the request was sent. Descriptions of the URL show no query values.
  public var url: HTTPURL?
  /// The status of the response. The status may be 302 for a redirect, or 304 if a stored response is still valid. In
  /// the metrics of a call, it is nil if no response arrived completely.
  public var status: Int?
  /// The time from ``Transport/send(_:)`` until the transport started the exchange.
  public var queue: Duration?
  /// The time from ``Transport/send(_:)`` until the host's name was resolved.
  public var nameLookup: Duration?
  /// The time from ``Transport/send(_:)`` until the connection was established.
  public var connect: Duration?
  /// The time from ``Transport/send(_:)`` until the TLS handshake was complete.
  public var tls: Duration?
  /// The time from ``Transport/send(_:)`` until the first line of the response arrived.
  public var firstByte: Duration?
  /// The time from ``Transport/send(_:)`` until the last byte arrived, or until the exchange failed or was abandoned.
  public var total: Duration?
  /// The number of bytes sent in headers and body.
  public var bytesSent: Int64 = 0
  /// The number of bytes received in headers and body, before content decoding.
  public var bytesReceived: Int64 = 0
  /// Whether the connection had been used before; nil if the transport does not know.
  public var isConnectionReused: Bool?
  /// The HTTP version of the response; nil if no response arrived.
  public var version: ResponseHead.Version?
  /// The numeric address of the other end of the connection: the server, or the proxy if there is one. The path for a
  /// Unix domain socket. Nil if no connection was established or the transport does not know the address.
  public var remoteAddress: String?
  /// The port at ``remoteAddress``; nil for a Unix domain socket, or if the transport does not know the port.
  public var remotePort: Int?

  /// The time at which a running exchange started; nil in all metrics that the app receives.
  package var begun: MonotonicInstant?

  /// Makes metrics without any measurement.
  public init() {}

  /// Replaces all measurements by the measurements of the transport. Keeps the method and the URL of the request.
  package mutating func take(_ measured: ExchangeMetrics, status: Int? = nil) {
    let sent = (method, url)
    self = measured
    (method, url) = sent
    self.status = status
  }

  /// Returns the metrics of an exchange that the call abandons at the time `now`. The value of ``total`` ends at `now`.
  package func left(at now: MonotonicInstant) -> ExchangeMetrics {
    guard let begun else { return self }
    var left = self
    left.begun = nil
    left.total = begun.duration(to: now)
    return left
  }
}

extension ExchangeMetrics: CustomStringConvertible {
  /// One line for people, such as `GET https://api.example.com/users/7 → 200 HTTP/2: connected at 5.1 ms, first byte at
  /// 30.2 ms, ended at 31.0 ms; 120 bytes sent, 480 bytes received; new connection to 192.0.2.7 port 443`. Query values
  /// are masked. The wording may change.
  public var description: String {
    let request = [method?.rawValue, url.map { "\($0)" }].compactMap { $0 }.joined(separator: " ")
    let response = [status.map { "\($0)" } ?? "no response", version?.rawValue].compactMap { $0 }.joined(separator: " ")
    let moments: [(String, Duration?)] = [
      ("started", queue), ("name resolved", nameLookup), ("connected", connect), ("TLS", tls),
      ("first byte", firstByte), ("ended", total),
    ]
    let times = moments.compactMap { name, time in time.map { "\(name) at \($0.shown)" } }.joined(separator: ", ")
    let bytes = "\(bytesSent) bytes sent, \(bytesReceived) bytes received"
    let head = "\(request.isEmpty ? "exchange" : request) → \(response)"
    return [times.isEmpty ? head : "\(head): \(times)", bytes, connection].compactMap { $0 }.joined(separator: "; ")
  }

  /// The connection in words; nil if nothing is known about it.
  private var connection: String? {
    let kind = isConnectionReused.map { $0 ? "reused connection" : "new connection" }
    guard let remoteAddress else { return kind }
    return "\(kind ?? "connection") to \(remoteAddress)" + (remotePort.map { " port \($0)" } ?? "")
  }
}

extension Duration {
  /// The duration for people, such as `31.2 ms` or `2.41 s`.
  package var shown: String {
    let milliseconds = self / .milliseconds(1)
    return abs(milliseconds) < 999.95
      ? "\((milliseconds * 10).rounded() / 10) ms" : "\((milliseconds / 10).rounded() / 100) s"
  }
}
