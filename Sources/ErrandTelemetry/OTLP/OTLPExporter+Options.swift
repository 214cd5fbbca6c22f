public import ErrandHTTP

extension OTLPExporter {
  /// The limits, intervals and clocks of an exporter.
  public struct Options: Sendable {
    /// The number of spans in one request. As soon as so many spans wait, they are sent.
    public var batch = 512
    /// The largest number of spans that wait. Further spans are dropped and counted.
    public var queue = 2_048
    /// The longest list of encoded spans in one request, in bytes before compression. A batch that is longer becomes
    /// several requests.
    public var bytes = 4 << 20
    /// The longest time that a span waits before it is sent.
    public var interval: Duration = .seconds(5)
    /// The time between two requests with metrics. A value below a second counts as a second.
    public var metricInterval: Duration = .seconds(60)
    static let shortestMetricInterval: Duration = .seconds(1)
    /// The time for one request, including further attempts and the waits between them.
    public var timeout: Duration = .seconds(30)
    /// The number of attempts of one request, including the first.
    public var attempts = 5
    /// Whether requests are compressed with gzip.
    public var compresses = false
    /// The clock and the timers for intervals and waits. Tests set a manual clock.
    public var timers: any Timers = SharedTimers.shared
    /// The wall clock for metrics, in nanoseconds since 1970.
    public var clock: @Sendable () -> UInt64 = WallClock.nanoseconds

    /// Makes the default options.
    public init() {}
  }
}
