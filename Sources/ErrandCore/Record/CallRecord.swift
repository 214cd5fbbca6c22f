import ErrandSupport

/// Records what happens to a call: its metrics, and the request as it was sent. The interceptors write the record, and
/// it is read at the end of the call. The state by which interceptors make decisions is in ``CallFlags``.
package final class CallRecord: Sendable {
  struct Notes: Sendable {
    var metrics = CallMetrics()
    var sent: HTTPRequest?
    /// The start of the last exchange. If exchanges run concurrently, the start of the first of them.
    var begun: MonotonicInstant?
    /// The moments at which exchanges began to wait for admission. Exchanges that no longer wait are not included.
    var waits: [MonotonicInstant] = []

    /// The metrics up to now, including the metrics of exchanges that still run.
    func measured(by now: MonotonicInstant) -> CallMetrics {
      var metrics = metrics
      for wait in waits { metrics.queue += wait.duration(to: now) }
      for place in metrics.exchanges.indices where metrics.exchanges[place].begun != nil {
        metrics.exchanges[place] = metrics.exchanges[place].left(at: now)
      }
      return metrics
    }

    mutating func take(_ other: Notes, by now: MonotonicInstant) {
      let measured = other.measured(by: now)
      sent = other.sent ?? sent
      begun = other.begun ?? begun
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

  private let notes = Locked(Notes())

  func built(_ request: HTTPRequest) { notes.withLock { $0.sent = request } }

  /// The last request that was sent.
  package var sent: HTTPRequest? { notes.withLock { $0.sent } }

  /// The start of the last exchange. If exchanges run concurrently, the start of the first of them.
  package var begun: MonotonicInstant? { notes.withLock { $0.begun } }

  /// Records that a request goes to the transport now. Returns the observer that records the metrics of the exchange.
  func sending(_ request: HTTPRequest, at now: MonotonicInstant) -> ExchangeNote {
    var exchange = ExchangeMetrics()
    (exchange.method, exchange.url, exchange.begun) = (request.method, request.url, now)
    return notes.withLock { notes in
      if !notes.metrics.exchanges.contains(where: { $0.begun != nil }) { notes.begun = now }
      notes.sent = request
      notes.metrics.attempts += 1
      notes.metrics.exchanges.append(exchange)
      return ExchangeNote(self, at: notes.metrics.exchanges.count - 1)
    }
  }

  /// Records that the transport repeats a request because a kept connection closed before the first byte of a response.
  func repeated() {
    notes.withLock {
      $0.metrics.attempts += 1
      $0.metrics.retries.append(RetryMetrics(reason: .failure(.closedBeforeResponse), delay: .zero))
    }
  }

  /// Records metrics of a running exchange. Ignores an exchange that has ended.
  func measured(_ exchange: ExchangeMetrics, at place: Int) {
    notes.withLock { notes in
      guard let begun = notes.metrics.exchanges[place].begun else { return }
      notes.metrics.exchanges[place].take(exchange)
      notes.metrics.exchanges[place].begun = begun
    }
  }

  /// Records the metrics of an exchange that has ended, and its status; nil if there was no response.
  func exchanged(_ exchange: ExchangeMetrics, status: Int?, at place: Int) {
    notes.withLock { $0.metrics.exchanges[place].take(exchange, status: status) }
  }

  /// Records that an exchange has ended without final metrics, so that the intermediate metrics are final.
  func left(at place: Int, _ now: MonotonicInstant) {
    notes.withLock { $0.metrics.exchanges[place] = $0.metrics.exchanges[place].left(at: now) }
  }

  /// Records what the cache did. The last report is kept.
  package func cached(_ report: CacheReport) { notes.withLock { $0.metrics.cache = report } }
  /// Records a retry.
  package func retried(_ retry: RetryMetrics) { notes.withLock { $0.metrics.retries.append(retry) } }
  func hopped() { notes.withLock { $0.metrics.redirects += 1 } }

  /// Whether an exchange waits for admission.
  var waits: Bool { notes.withLock { !$0.waits.isEmpty } }

  /// Records that an exchange begins to wait for admission.
  func queues(since start: MonotonicInstant) { notes.withLock { $0.waits.append(start) } }

  /// Records that an exchange no longer waits for admission.
  func queued(since start: MonotonicInstant, until end: MonotonicInstant) {
    notes.withLock { notes in
      notes.metrics.queue += start.duration(to: end)
      if let place = notes.waits.firstIndex(of: start) { notes.waits.remove(at: place) }
    }
  }

  /// Adds the record of a shared exchange that the call leaves.
  /// - Parameters:
  ///   - isJoined: Whether another call had started the exchange.
  ///   - now: The current moment, for exchanges that still run.
  func take(shared exchange: CallRecord, isJoined: Bool, at now: MonotonicInstant) {
    let shared = exchange.notes.withLock { $0 }
    notes.withLock { notes in
      notes.take(shared, by: now)
      let report = isJoined ? shared.metrics.cache?.collapsed : shared.metrics.cache
      notes.metrics.cache = report ?? notes.metrics.cache
      notes.metrics.isJoined = notes.metrics.isJoined || isJoined
    }
  }

  /// Adds the record of an exchange that was made for this call, with the values up to now.
  func take(_ exchange: CallRecord, by now: MonotonicInstant) {
    let other = exchange.notes.withLock { $0 }
    notes.withLock { $0.take(other, by: now) }
  }

  func decoded(in time: Duration) { notes.withLock { $0.metrics.decode = time } }

  /// Records the end of the call. Returns all metrics, and the request that was sent last.
  func ended(after total: Duration, at now: MonotonicInstant) -> (CallMetrics, HTTPRequest?) {
    notes.withLock {
      $0.metrics.total = total
      return ($0.measured(by: now), $0.sent)
    }
  }
}

/// Records the progress of one exchange in a call's record.
struct ExchangeNote: ExchangeObserver {
  private let record: CallRecord
  private let place: Int

  init(_ record: CallRecord, at place: Int) {
    self.record = record
    self.place = place
  }

  func measured(_ metrics: ExchangeMetrics) { record.measured(metrics, at: place) }
  func repeated() { record.repeated() }
  func answered(_ response: HTTPResponse) { record.exchanged(response.metrics, status: response.status, at: place) }
  func failed(_ error: any Error, at now: MonotonicInstant) {
    if let metrics = (error as? TransportFailure)?.metrics { return record.exchanged(metrics, status: nil, at: place) }
    record.left(at: place, now)
  }
}
