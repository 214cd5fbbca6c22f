import ErrandHTTP

/// Records the measurements of one attempt.
struct ExchangeMeter: Sendable {
  private let recorder: any MetricRecorder
  private let active: Attributes
  private let base: Attributes

  /// - Parameter attributes: The attributes of the attempt's span, from which the attributes of the metrics are taken.
  init(_ recorder: any MetricRecorder, _ attributes: Attributes) {
    self.recorder = recorder
    active = attributes.filter { Self.names.contains($0.key) || $0.key == "url.template" }
    base = attributes.filter { Self.names.contains($0.key) }
  }

  private static let names: Set<String> = ["http.request.method", "server.address", "server.port"]

  func begin() { recorder.record(1, .activeRequests, active) }

  func end(_ end: Attributes, after duration: Duration, _ metrics: ExchangeMetrics) {
    recorder.record(-1, .activeRequests, active)
    recorder.record(duration / .seconds(1), .requestDuration, active.merging(end) { $1 })
    guard let wait = Self.wait(metrics) else { return }
    recorder.record(wait / .seconds(1), .connectionWait, base)
  }

  /// The time until the attempt had a connection; nil if the transport did not measure it.
  private static func wait(_ metrics: ExchangeMetrics) -> Duration? {
    switch metrics.isConnectionReused {
    case true?: metrics.queue
    case false?: metrics.tls ?? metrics.connect
    case nil: nil
    }
  }
}
