#if SwiftMetrics
  public import CoreMetrics
  import ErrandSupport
  public import ErrandTelemetry

  /// Records the measurements of a ``ErrandTelemetry/Telemetry`` by a factory of swift-metrics. Durations become timers,
  /// and counts meters; the names and attributes are those of ErrandTelemetry.
  ///
  /// ```swift
  /// configuration.telemetry = Telemetry(metrics: SwiftMetricsRecorder())
  /// ```
  public final class SwiftMetricsRecorder: MetricRecorder {
    private struct Key: Hashable, Sendable {
      let name: String
      let attributes: Attributes
    }

    /// The largest number of meters that are kept. A meter that is not kept counts from zero again.
    private static let mostMeters = 2_000

    private let factory: any MetricsFactory
    private let meters = Locked<[Key: Meter]>([:])

    /// Makes a recorder.
    ///
    /// - Parameter factory: The factory of the meters and timers; by default that of the program.
    public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

    /// Records one value.
    public func record(_ value: Double, _ instrument: Instrument, _ attributes: Attributes) {
      switch instrument.kind {
      case .histogram where instrument.unit == "s":
        let timer = Timer(label: instrument.name, dimensions: Self.dimensions(attributes), factory: factory)
        timer.recordSeconds(value)
      case .histogram:
        let recorder = Recorder(
          label: instrument.name, dimensions: Self.dimensions(attributes), aggregate: true, factory: factory)
        recorder.record(value)
      case .upDownCounter:
        let meter = meter(Key(name: instrument.name, attributes: attributes))
        if value < 0 { meter.decrement(by: -value) } else { meter.increment(by: value) }
      }
    }

    private func meter(_ key: Key) -> Meter {
      if let known = meters.withLock({ $0[key] }) { return known }
      // Two threads may make the same meter at once. Then both use the one that was kept first.
      let made = Meter(label: key.name, dimensions: Self.dimensions(key.attributes), factory: factory)
      return meters.withLock { meters in
        if let known = meters[key] { return known }
        if meters.count < Self.mostMeters { meters[key] = made }
        return made
      }
    }

    private static func dimensions(_ attributes: Attributes) -> [(String, String)] {
      attributes.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
    }
  }
#endif
