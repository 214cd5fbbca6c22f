import ErrandSupport

/// Records the metrics of a call and the request that was sent last. The interceptors write the record, and the client
/// reads it at the end of the call. The flags by which interceptors make decisions are in ``CallFlags``.
package final class CallRecord: Sendable {
  struct State: Sendable {
    var metrics = CallMetrics()
    var sent: HTTPRequest?
    /// The start of the last exchange. If several exchanges run concurrently, the start of the first of them. Nil
    /// before the first exchange.
    var begun: MonotonicInstant?
    /// The index of the exchange that started at `begun`. The exchanges from this index on are the last ones: they ran
    /// at the same time, or there is only one.
    var firstOfLast = 0
    /// Whether the server has sent a byte to one of the copies of a hedged request. Nil if the exchanges from
    /// `firstOfLast` on decide.
    var hasParallelFirstByte: Bool?
    /// The moments at which exchanges began to wait because of the limits on concurrent exchanges. The moment of an
    /// exchange is removed when its wait ends.
    var waits: [MonotonicInstant] = []

    /// Returns the metrics up to the moment `now`, including the metrics of exchanges that still run.
    func measured(by now: MonotonicInstant) -> CallMetrics {
      var metrics = metrics
      for wait in waits { metrics.queue += wait.duration(to: now) }
      for place in metrics.exchanges.indices where metrics.exchanges[place].begun != nil {
        metrics.exchanges[place] = metrics.exchanges[place].left(at: now)
      }
      return metrics
    }

    mutating func take(_ other: State, by now: MonotonicInstant) {
      let measured = other.measured(by: now)
      sent = other.sent ?? sent
      if let start = other.begun {
        begun = start
        firstOfLast = metrics.exchanges.count + other.firstOfLast
      }
      metrics.attempts += measured.attempts
      metrics.queue += measured.queue
      if !measured.retries.isEmpty { metrics.retries += measured.retries }
      if metrics.exchanges.isEmpty {
        metrics.exchanges = measured.exchanges
      } else {
        metrics.exchanges += measured.exchanges
      }
    }
  }

  private let state = Locked(State())
  /// Collects the decisions of the call for the client's ``FlightRecord``; nil if the client records no calls.
  package let flight: FlightNotes?
  /// Follows the call for tracing and metrics; nil if the client has no ``CallTracer``.
  let trace: (any CallTrace)?

  init(flight: FlightNotes? = nil, trace: (any CallTrace)? = nil) { (self.flight, self.trace) = (flight, trace) }

  /// An empty record for an exchange whose record is later added to this record.
  var forExchange: CallRecord { CallRecord(flight: flight?.forExchange, trace: trace) }

  func recordBuilt(_ request: HTTPRequest) {
    state.withLock { $0.sent = request }
    flight?.recordBuilt(request)
  }

  /// The request that was sent last. If it was sent twice in parallel, the request whose response is delivered. Before
  /// the first exchange, the request as it was built. Nil if the request has not been built yet.
  package var sent: HTTPRequest? { state.withLock { $0.sent } }

  /// The start of the last exchange. If several exchanges run concurrently, the start of the first of them; after
  /// ``takeLastExchange(of:hasFirstByte:)``, the start of the exchange that this function took. Nil before the first
  /// exchange.
  package var begun: MonotonicInstant? { state.withLock { $0.begun } }

  /// Whether the server of the last exchange has sent a byte of its response. If several exchanges ran at the same
  /// time, such as the parts of a download, whether it has sent a byte to one of them.
  package var hasFirstByte: Bool {
    state.withLock { state in
      state.hasParallelFirstByte
        ?? state.metrics.exchanges.dropFirst(state.firstOfLast).contains { $0.firstByte != nil }
    }
  }

  /// Records that a request is handed to the transport now. Returns the observer that records the metrics of the
  /// exchange.
  func sending(
    _ request: HTTPRequest, at now: MonotonicInstant, _ trace: (any ExchangeTrace)? = nil
  ) -> ExchangeRecorder {
    var exchange = ExchangeMetrics()
    (exchange.method, exchange.url, exchange.begun) = (request.method, request.url, now)
    let notes = flight?.begin(request, at: now)
    return state.withLock { state in
      if !state.metrics.exchanges.contains(where: { $0.begun != nil }) {
        (state.begun, state.firstOfLast) = (now, state.metrics.exchanges.count)
      }
      state.sent = request
      state.hasParallelFirstByte = nil
      state.metrics.attempts += 1
      state.metrics.exchanges.append(exchange)
      return ExchangeRecorder(
        record: self, place: state.metrics.exchanges.count - 1, notes: notes, trace: trace)
    }
  }

  /// Records that the transport repeats a request because a reused connection closed before the first byte of a
  /// response.
  func repeated() {
    state.withLock {
      $0.metrics.attempts += 1
      $0.metrics.retries.append(RetryMetrics(reason: .failure(.closedBeforeResponse), delay: .zero))
    }
  }

  /// Records intermediate metrics of a running exchange. Does nothing if the exchange has ended.
  func measured(_ exchange: ExchangeMetrics, at place: Int) {
    state.withLock { state in
      guard let begun = state.metrics.exchanges[place].begun else { return }
      state.metrics.exchanges[place].take(exchange)
      state.metrics.exchanges[place].begun = begun
    }
  }

  /// Records the final metrics and the status of an exchange that has ended. The status is nil if there was no
  /// response.
  func exchanged(_ exchange: ExchangeMetrics, status: Int?, at place: Int) {
    state.withLock { $0.metrics.exchanges[place].take(exchange, status: status) }
  }

  /// Records that an exchange has ended without final metrics. Its intermediate metrics, measured up to `now`, become
  /// final.
  func finishWithoutMetrics(at place: Int, _ now: MonotonicInstant) {
    state.withLock { $0.metrics.exchanges[place] = $0.metrics.exchanges[place].left(at: now) }
  }

  /// Stores the report of the cache. Only the last report of a call is kept.
  package func cached(_ report: CacheReport) { state.withLock { $0.metrics.cache = report } }
  package func retried(_ retry: RetryMetrics) { state.withLock { $0.metrics.retries.append(retry) } }
  func recordRedirect() { state.withLock { $0.metrics.redirects += 1 } }

  /// Whether an exchange of the call waits because of the limits on concurrent exchanges.
  var waits: Bool { state.withLock { !$0.waits.isEmpty } }

  /// Records that an exchange begins to wait because of the limits on concurrent exchanges.
  func beginWait(at start: MonotonicInstant) { state.withLock { $0.waits.append(start) } }

  /// Records that an exchange no longer waits because of the limits on concurrent exchanges.
  /// - Parameter shortage: The limit that was reached, for the flight record.
  func endWait(
    since start: MonotonicInstant, until end: MonotonicInstant,
    because shortage: Boxed<CallDecision.AdmissionShortage>? = nil
  ) {
    state.withLock { state in
      state.metrics.queue += start.duration(to: end)
      if let place = state.waits.firstIndex(of: start) { state.waits.remove(at: place) }
    }
    if let flight, let shortage { flight.add(.waited(start.duration(to: end), shortage.value), at: end) }
  }

  /// Adds to this record the metrics of an exchange that the call has shared with other calls. The function is called
  /// when the call no longer waits for the exchange.
  /// - Parameters:
  ///   - isJoined: True if another call had started the exchange.
  ///   - now: The current moment. Exchanges that still run are measured up to this moment.
  func take(shared exchange: CallRecord, isJoined: Bool, at now: MonotonicInstant) {
    let shared = exchange.state.withLock { $0 }
    state.withLock { state in
      state.take(shared, by: now)
      let report = isJoined ? shared.metrics.cache?.collapsed : shared.metrics.cache
      state.metrics.cache = report ?? state.metrics.cache
      state.metrics.isJoined = state.metrics.isJoined || isJoined
    }
    takeNotes(of: exchange)
  }

  /// Adds to this record the metrics of an exchange that only this call has used. Exchanges that still run are measured
  /// up to `now`.
  func take(_ exchange: CallRecord, by now: MonotonicInstant) {
    let other = exchange.state.withLock { $0 }
    state.withLock { $0.take(other, by: now) }
    takeNotes(of: exchange)
  }

  /// Takes from another record the request that was sent last and the start of the last exchange. Called after
  /// ``take(_:by:)`` if several exchanges ran at the same time, for the exchange whose response is delivered. If there
  /// is no response, for the first exchange.
  /// - Parameter hasFirstByte: Whether the server has sent a byte to one of these exchanges.
  func takeLastExchange(of exchange: CallRecord, hasFirstByte: Bool) {
    let other = exchange.state.withLock { $0 }
    state.withLock { state in
      state.sent = other.sent ?? state.sent
      state.begun = other.begun ?? state.begun
      state.hasParallelFirstByte = hasFirstByte
    }
  }

  private func takeNotes(of exchange: CallRecord) {
    if let flight, let other = exchange.flight { flight.take(other) }
  }

  func decoded(in time: Duration) { state.withLock { $0.metrics.decode = time } }

  /// Records the duration of the call, which has ended. Returns all metrics, and the request that was sent last.
  func ended(after total: Duration, at now: MonotonicInstant) -> (CallMetrics, HTTPRequest?) {
    state.withLock {
      $0.metrics.total = total
      return ($0.measured(by: now), $0.sent)
    }
  }
}

/// Observes one exchange and writes its metrics into the call's ``CallRecord``.
struct ExchangeRecorder: ExchangeObserver {
  let record: CallRecord
  /// The index of the exchange in the metrics of the call.
  let place: Int
  let notes: ExchangeNotes?
  let trace: (any ExchangeTrace)?

  func measured(_ metrics: ExchangeMetrics) { record.measured(metrics, at: place) }
  func repeated() {
    record.repeated()
    trace?.repeated()
  }
  /// Records where the body of the response goes, if the exchange has a sink.
  func bodyGoes(to disposition: BodyDisposition) { notes?.bodyGoes(to: disposition) }
  func connected() -> (any ConnectionObserver)? { trace?.connected() }
  func answered(_ response: HTTPResponse) {
    record.exchanged(response.metrics, status: response.status, at: place)
    notes?.answered(response)
    trace?.answered(response)
  }
  func failed(_ error: any Error, at now: MonotonicInstant) {
    notes?.failed(error, at: now)
    trace?.failed(error)
    if let metrics = (error as? TransportFailure)?.metrics { return record.exchanged(metrics, status: nil, at: place) }
    record.finishWithoutMetrics(at: place, now)
  }
}
