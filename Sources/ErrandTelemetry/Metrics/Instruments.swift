/// One metric: its name, its unit and how its values are combined.
public struct Instrument: Sendable, Hashable {
  /// How the values of a metric are combined.
  public enum Kind: Sendable, Hashable {
    /// Values are counted in buckets with these upper bounds, in ascending order.
    case histogram([Double])
    /// Values are added; they may be negative.
    case upDownCounter
  }

  /// The name, such as `http.client.request.duration`.
  public var name: String
  /// The unit in UCUM notation, such as `s`.
  public var unit: String
  /// What the metric measures.
  public var summary: String
  /// How the values are combined.
  public var kind: Kind

  /// Makes an instrument.
  public init(name: String, unit: String, summary: String, kind: Kind) {
    (self.name, self.unit, self.summary, self.kind) = (name, unit, summary, kind)
  }

  /// The duration of each attempt in seconds, with the bucket bounds of the conventions.
  public static let requestDuration = Instrument(
    name: "http.client.request.duration", unit: "s", summary: "Duration of HTTP client requests.",
    kind: .histogram([0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]))
  /// The number of attempts that run now.
  public static let activeRequests = Instrument(
    name: "http.client.active_requests", unit: "{request}", summary: "Number of active HTTP requests.",
    kind: .upDownCounter)
  /// The number of open connections, by their state.
  public static let openConnections = Instrument(
    name: "http.client.open_connections", unit: "{connection}", summary: "Number of open HTTP connections.",
    kind: .upDownCounter)
  /// The time from the first request on a connection until the connection is closed, in seconds.
  public static let connectionDuration = Instrument(
    name: "http.client.connection.duration", unit: "s", summary: "Duration of HTTP connections.",
    kind: .histogram([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]))
  /// The time of an attempt until it has a connection, in seconds: waiting for a free one, or resolving the name and
  /// connecting. Not in OpenTelemetry's conventions. Attempts whose transport does not measure it have no value.
  public static let connectionWait = Instrument(
    name: "errand.client.connection.wait", unit: "s", summary: "Time until an HTTP request has a connection.",
    kind: .histogram([0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]))
}

/// Receives measurements, for example to send them to a collector. ``OTLPExporter`` is one.
///
/// ```swift
/// struct PrintingRecorder: MetricRecorder {
///   func record(_ value: Double, _ instrument: Instrument, _ attributes: Attributes) { print(instrument.name, value) }
/// }
/// ```
public protocol MetricRecorder: Sendable {
  /// Receives one value of an instrument, on the thread that runs the attempt. The function must return quickly and must
  /// not block.
  func record(_ value: Double, _ instrument: Instrument, _ attributes: Attributes)
}
