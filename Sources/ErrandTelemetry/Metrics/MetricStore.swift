import ErrandSupport

/// Combines measurements since the start of the process, as OTLP's cumulative temporality demands.
struct MetricStore: Sendable {
  /// The combined values of an instrument with the same attributes.
  enum Point: Sendable, Hashable {
    case histogram(Histogram)
    case sum(Double)
  }

  /// The counts of a histogram.
  struct Histogram: Sendable, Hashable {
    let bounds: [Double]
    /// The number of values in each bucket; one bucket more than bounds. A bound belongs to the bucket below it.
    private(set) var counts: [UInt64]
    private(set) var count: UInt64 = 0
    private(set) var sum = 0.0
    private(set) var least = Double.infinity
    private(set) var greatest = -Double.infinity

    init(_ bounds: [Double]) {
      self.bounds = bounds
      counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Adds a value, unless the value or the new sum is not finite.
    mutating func add(_ value: Double) {
      guard (sum + value).isFinite else { return }
      counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
      count += 1
      sum += value
      (least, greatest) = (min(least, value), max(greatest, value))
    }
  }

  /// The points of one instrument.
  struct Series: Sendable {
    let instrument: Instrument
    var points: [Attributes: Point] = [:]
  }

  /// The largest number of points of an instrument. Values with further attributes are combined in one point, which has
  /// only the attribute `otel.metric.overflow`.
  static let mostPoints = 2_000

  /// The instruments in the order of their first values.
  private(set) var series: [Series] = []
  private var places: [Instrument: Int] = [:]

  /// Adds a value, unless the value or the new sum is not finite: one such number would spoil its point forever.
  mutating func add(_ value: Double, _ instrument: Instrument, _ attributes: Attributes) {
    guard value.isFinite else { return }
    let place = place(of: instrument)
    let points = series[place].points
    let isKnown = points[attributes] != nil || points.count < Self.mostPoints - 1
    let key: Attributes = isKnown ? attributes : ["otel.metric.overflow": true]
    let point = points[key]
    switch instrument.kind {
    case .histogram(let bounds):
      var histogram = Histogram(bounds)
      if case .histogram(let known)? = point { histogram = known }
      histogram.add(value)
      series[place].points[key] = .histogram(histogram)
    case .upDownCounter:
      var sum = value
      if case .sum(let known)? = point { sum += known }
      if sum.isFinite { series[place].points[key] = .sum(sum) }
    }
  }

  private mutating func place(of instrument: Instrument) -> Int {
    if let place = places[instrument] { return place }
    series.append(Series(instrument: instrument))
    places[instrument] = series.count - 1
    return series.count - 1
  }
}
