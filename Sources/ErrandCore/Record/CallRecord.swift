import ErrandSupport

/// What is noted while a call is on its way: by the stations, read at its end.
package final class CallRecord: Sendable {
  struct Notes: Sendable {
    var metrics = CallMetrics()
    var sent: HTTPRequest?
  }

  private let notes = Locked(Notes())

  func built(_ request: HTTPRequest) { notes.withLock { $0.sent = request } }

  func sending(_ request: HTTPRequest) {
    notes.withLock {
      $0.sent = request
      $0.metrics.attempts += 1
    }
  }

  func exchanged(_ exchange: ExchangeMetrics) { notes.withLock { $0.metrics.exchanges.append(exchange) } }
  /// Notes what the cache did; the last word counts.
  package func cached(_ report: CacheReport) { notes.withLock { $0.metrics.cache = report } }
  func hopped() { notes.withLock { $0.metrics.redirects += 1 } }
  func queued(_ time: Duration) { notes.withLock { $0.metrics.queue += time } }

  func decoded(in time: Duration) { notes.withLock { $0.metrics.decode = time } }

  /// Notes the end of the work; returns all that was measured, and what was sent last.
  func ended(after total: Duration) -> (CallMetrics, HTTPRequest?) {
    notes.withLock {
      $0.metrics.total = total
      return ($0.metrics, $0.sent)
    }
  }
}
