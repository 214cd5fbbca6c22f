public import Errand
public import ErrandHTTP
import ErrandJSON
import ErrandSupport
import Foundation

/// Sends spans and metrics to an OpenTelemetry collector, as OTLP over HTTP with JSON.
///
/// ```swift
/// let exporter = OTLPExporter(
///   endpoint: "https://collector.example.com", headers: ["Api-Key": .secret(key)],
///   resource: ["service.name": "notes", "service.version": "2.1"])
/// configuration.telemetry = Telemetry(spans: exporter, metrics: exporter)
/// ```
///
/// A call never waits for the exporter: spans are put into a bounded queue and sent in the background, and spans that do
/// not fit are dropped and counted. A batch is sent when it is full, when the interval has passed, or when ``flush()`` is
/// called. Metrics are sent with cumulative values: in each interval after the first measurement, also if nothing was
/// measured in it. The exporter has a client of its own, which is never traced.
///
/// A batch that the collector rejects with status 429, 502, 503 or 504, or that does not reach it, is sent again, at the
/// earliest after the time in `Retry-After`. After ``Options/timeout`` the batch is lost and counted.
///
/// Before the app ends, call ``shutdown()``. Source: OTLP 1.11, opentelemetry-proto.
public final class OTLPExporter: SpanExporter, MetricRecorder {
  /// The numbers of spans since the exporter was made.
  public struct Counts: Sendable, Hashable {
    /// Spans that the collector accepted.
    public var exported = 0
    /// Spans that were dropped because the queue was full or the exporter was shut down.
    public var dropped = 0
    /// Spans of requests that failed after all attempts, or that are too long.
    public var failed = 0
    /// Spans that the collector rejected while it accepted others of the same request.
    public var rejected = 0
    /// Requests with metrics that failed after all attempts.
    public var failedMetrics = 0
  }

  /// A flush that waits until its spans and metrics are sent or lost.
  private struct Waiter: Sendable {
    /// The values of ``ExportQueue/taken`` and ``State/metricsTaken`` at which they have been taken.
    let spans, metrics: Int
    let continuation: CheckedContinuation<Void, Never>
  }

  private enum Job: Sendable {
    case spans([Span])
    case metrics(MetricStore)
  }

  private struct State: Sendable {
    var queue: ExportQueue
    var metrics = MetricStore()
    var isMetricTimerSet = false
    var areMetricsDue = false
    /// The number of requests with metrics so far.
    var metricsTaken = 0
    var counts = Counts()
    var waiters: [Waiter] = []

    /// The interval between requests with metrics has passed. Returns what to do, and whether the timer must be set
    /// again. It is set again even if nothing was measured, because the last request may have failed, and because a
    /// collector treats values that are not repeated as stale.
    mutating func metricTimerFired() -> (action: ExportQueue.Action, setsTimer: Bool) {
      isMetricTimerSet = !queue.isClosed && !metrics.series.isEmpty
      guard isMetricTimerSet else { return (.none, false) }
      areMetricsDue = true
      return (queue.flush(), true)
    }

    mutating func flush(_ continuation: CheckedContinuation<Void, Never>) -> ExportQueue.Action {
      areMetricsDue = areMetricsDue || !metrics.series.isEmpty
      waiters.append(
        Waiter(
          spans: queue.accepted, metrics: metricsTaken &+ (areMetricsDue ? 1 : 0), continuation: continuation))
      return queue.flush()
    }

    /// Removes the waiters for which nothing is left to send. Called while no request runs.
    mutating func removeServedWaiters() -> [Waiter] {
      let served = waiters.filter { $0.spans <= queue.taken && $0.metrics <= metricsTaken }
      if !served.isEmpty { waiters.removeAll { $0.spans <= queue.taken && $0.metrics <= metricsTaken } }
      return served
    }
  }

  private let options: Options
  private let client: APIClient
  private let encoding: OTLPEncoding
  private let start: UInt64
  private let state: Locked<State>

  /// Makes an exporter.
  ///
  /// - Parameters:
  ///   - endpoint: The URL of the collector, to which `/v1/traces` and `/v1/metrics` are appended, such as
  ///     `http://localhost:4318`. An invalid URL makes every request fail; see ``counts``.
  ///   - headers: Header fields of every request, such as an API key: `.secret(key)`.
  ///   - resource: The attributes of this process, such as `service.name`.
  ///   - options: The limits, intervals and clocks.
  ///   - configure: Changes the configuration of the exporter's client, for example its transport.
  public init(
    endpoint: String, headers: RequestHeaders = [:], resource: Attributes = [:], options: Options = Options(),
    configure: (inout ClientConfiguration) -> Void = { _ in }
  ) {
    var configuration = ClientConfiguration(baseURL: endpoint)
    configuration.headers = headers
    configuration.timers = options.timers
    configuration.timeouts = Timeouts(total: options.timeout)
    configuration.retries = RetryPolicy(
      attempts: max(options.attempts, 1), statuses: [429, 502, 503, 504], firstDelay: .seconds(1),
      busyDelay: .seconds(1), longestDelay: .seconds(5), longestRetryAfter: options.timeout)
    // An outage would use the budget up, and each later batch would have only one attempt.
    configuration.retries.usesBudget = false
    configuration.cache.store = .off
    configure(&configuration)
    configuration.telemetry = nil
    (self.options, client) = (options, APIClient(configuration))
    let standard: Attributes = [
      "service.name": "unknown_service", "telemetry.sdk.name": "errand", "telemetry.sdk.language": "swift",
    ]
    encoding = OTLPEncoding(resource: standard.merging(resource) { $1 })
    start = options.clock()
    state = Locked(State(queue: ExportQueue(.init(batch: max(options.batch, 1), queue: max(options.queue, 1)))))
  }

  /// The numbers of spans so far.
  public var counts: Counts {
    state.withLock { state in
      var counts = state.counts
      counts.dropped += state.queue.dropped
      return counts
    }
  }

  // MARK: - Receiving

  /// Adds a span to the queue.
  public func export(_ span: Span) { perform(state.withLock { $0.queue.add(span) }) }

  /// Combines a value with the earlier values of the instrument.
  public func record(_ value: Double, _ instrument: Instrument, _ attributes: Attributes) {
    let setsTimer = state.withLock { state in
      guard !state.queue.isClosed else { return false }
      state.metrics.add(value, instrument, attributes)
      defer { state.isMetricTimerSet = true }
      return !state.isMetricTimerSet
    }
    if setsTimer { setMetricTimer() }
  }

  private func setMetricTimer() {
    schedule(after: max(options.metricInterval, Options.shortestMetricInterval)) { exporter in
      let (action, setsTimer) = exporter.state.withLock { $0.metricTimerFired() }
      if setsTimer { exporter.setMetricTimer() }
      exporter.perform(action)
    }
  }

  private func perform(_ action: ExportQueue.Action) {
    switch action {
    case .none: break
    case .setTimer:
      schedule(after: options.interval) { exporter in
        exporter.perform(exporter.state.withLock { $0.queue.timerFired() })
      }
    case .send: Task.detached { await self.sendAll() }
    }
  }

  private func schedule(after delay: Duration, _ action: @escaping @Sendable (OTLPExporter) -> Void) {
    let timers = options.timers
    _ = timers.schedule(at: timers.now.advanced(by: delay)) { [weak self] in self.map(action) }
  }

  // MARK: - Ending

  /// Sends the spans and metrics of this moment, and waits until they are sent or lost: at most ``Options/timeout`` for
  /// each request. It does not wait for spans that arrive later.
  public func flush() async {
    await withCheckedContinuation { continuation in
      perform(state.withLock { $0.flush(continuation) })
    }
  }

  /// Accepts no more spans and measurements, then sends those of this moment; see ``flush()``.
  public func shutdown() async {
    state.withLock { $0.queue.close() }
    await flush()
  }

  // MARK: - Sending

  private func sendAll() async {
    while let job = nextJob() {
      switch job {
      case .spans(let spans): await send(spans)
      case .metrics(let metrics):
        // The wall clock may have been set back. Collectors reject values that end before their start.
        let body = encoding.body(of: metrics, from: start, to: max(options.clock(), start))
        if await !send(body, to: "/v1/metrics").isAccepted { state.withLock { $0.counts.failedMetrics += 1 } }
      }
    }
  }

  /// The next request, after the one before has ended; nil if sending ends now, when all waiters have been served.
  private func nextJob() -> Job? {
    let (job, action, waiters) = state.withLock { state -> (Job?, ExportQueue.Action, [Waiter]) in
      let served = state.removeServedWaiters()
      if state.areMetricsDue {
        state.areMetricsDue = false
        state.metricsTaken &+= 1
        return (.metrics(state.metrics), .none, served)
      }
      let spans = state.queue.next()
      guard spans.isEmpty else { return (.spans(spans), .none, served) }
      return (nil, state.queue.timerIfNeeded(), served)
    }
    perform(action)
    for waiter in waiters { waiter.continuation.resume() }
    return job
  }

  private func send(_ spans: [Span]) async {
    let encoded = spans.map(OTLPEncoding.span)
    let ranges = ExportSplit.ranges(encoded.map(\.count), limit: options.bytes)
    for range in ranges {
      let result = await send(encoding.body(ofSpans: Array(encoded[range])), to: "/v1/traces")
      state.withLock { state in
        guard result.isAccepted else { return state.counts.failed += range.count }
        let rejected = min(max(result.rejected, 0), range.count)
        state.counts.rejected += rejected
        state.counts.exported += range.count - rejected
      }
    }
    let tooLong = spans.count - ranges.reduce(0) { $0 + $1.count }
    if tooLong > 0 { state.withLock { $0.counts.failed += tooLong } }
  }

  private func send(_ body: Data, to path: String) async -> (isAccepted: Bool, rejected: Int) {
    let request = ExportRequest(path: RequestPath(path), data: body, isCompressed: options.compresses)
    let outcome = await client.outcome(of: request)
    guard case .success(let response) = outcome.result else { return (false, 0) }
    return (true, Self.rejected(in: response))
  }

  /// The number of rejected spans in a response, which may contain anything.
  private static func rejected(in response: Data) -> Int {
    guard let value = try? JSONValue(parsing: response), let count = value["partialSuccess"]?["rejectedSpans"] else {
      return 0
    }
    return count.stringValue.flatMap { Int($0) } ?? count.intValue ?? 0
  }
}

/// One request to the collector.
private struct ExportRequest: APIRequest {
  typealias Response = Data

  let path: RequestPath
  let data: Data
  let isCompressed: Bool

  var method: HTTPMethod { .post }
  var body: RequestBody? {
    let body = RequestBody.bytes(data, type: "application/json")
    return isCompressed ? body.compressed(.gzip) : body
  }
  /// A batch that arrives twice is the lesser evil: OTLP demands that it is sent again.
  var idempotency: Idempotency { .assumed }
  /// The limit that OTLP recommends.
  var validation: ResponseValidation { ResponseValidation(bodyLimit: .bytes(4 << 20)) }
}

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
