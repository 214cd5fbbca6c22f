import ErrandSupport

/// What is noted while a call is on its way: by the stations, read at its end.
package final class CallRecord: Sendable {
  struct Notes: Sendable {
    var metrics = CallMetrics()
    var sent: HTTPRequest?
    var isSeated = false
    var isRefreshed = false
    var cookies: String?
    /// As whom the call was frozen: several where an interceptor sent more than once.
    var accounts: [String] = []
    var isLoggedOut = false

    mutating func take(_ other: Notes) {
      sent = other.sent ?? sent
      metrics.attempts += other.metrics.attempts
      metrics.queue += other.metrics.queue
      if !other.metrics.retries.isEmpty { metrics.retries += other.metrics.retries }
      if metrics.exchanges.isEmpty {
        metrics.exchanges = other.metrics.exchanges
      } else {
        metrics.exchanges += other.metrics.exchanges
      }
    }
  }

  private let notes = Locked(Notes())

  func built(_ request: HTTPRequest) { notes.withLock { $0.sent = request } }

  /// The request as it was sent last.
  package var sent: HTTPRequest? { notes.withLock { $0.sent } }

  func sending(_ request: HTTPRequest) {
    notes.withLock {
      $0.sent = request
      $0.metrics.attempts += 1
    }
  }

  /// Notes that the transport sends once more, since a kept connection died before a byte of the answer.
  func repeated() {
    notes.withLock {
      $0.metrics.attempts += 1
      $0.metrics.retries.append(RetryMetrics(reason: .failure(.closedBeforeResponse), delay: .zero))
    }
  }

  func exchanged(_ exchange: ExchangeMetrics) { notes.withLock { $0.metrics.exchanges.append(exchange) } }
  /// Notes what the cache did; the last word counts.
  package func cached(_ report: CacheReport) { notes.withLock { $0.metrics.cache = report } }
  /// Notes that something was tried again.
  package func retried(_ retry: RetryMetrics) { notes.withLock { $0.metrics.retries.append(retry) } }
  /// Whether the call may still be refreshed for, which is done once.
  func takeRefresh() -> Bool {
    notes.withLock { notes in
      defer { notes.isRefreshed = true }
      return !notes.isRefreshed
    }
  }

  /// Notes as whom the call goes on.
  func goes(as account: String) {
    notes.withLock { if !$0.accounts.contains(account) { $0.accounts.append(account) } }
  }

  /// Notes that an account's session has ended; false where it is not the call's.
  func ends(_ account: String) -> Bool {
    notes.withLock { notes in
      guard notes.accounts.contains(account) else { return false }
      notes.isLoggedOut = true
      return true
    }
  }

  /// Whether the call ends since its account was logged out.
  var isLoggedOut: Bool { notes.withLock { $0.isLoggedOut } }

  /// Notes what the jar gave for the exchange that begins.
  func carries(_ cookies: String?) { notes.withLock { $0.cookies = cookies } }

  /// What the jar gave for the exchange that began last.
  var cookies: String? { notes.withLock { $0.cookies } }

  func hopped() { notes.withLock { $0.metrics.redirects += 1 } }
  func queued(_ time: Duration) { notes.withLock { $0.metrics.queue += time } }

  /// Takes the call's seat in a shared exchange; false where it has one already, by another way down.
  func takeSeat() -> Bool {
    notes.withLock { notes in
      defer { notes.isSeated = true }
      return !notes.isSeated
    }
  }

  /// Gives the seat up.
  /// - Parameters:
  ///   - exchange: What was noted of the exchange, to be taken over; nil where it was another's.
  ///   - isJoined: Whether another call had begun it.
  func leaveSeat(_ exchange: CallRecord?, isJoined: Bool) {
    let shared = exchange?.notes.withLock { $0 }
    notes.withLock { notes in
      notes.isSeated = false
      guard let shared else { return }
      notes.take(shared)
      let report = isJoined ? shared.metrics.cache?.collapsed : shared.metrics.cache
      notes.metrics.cache = report ?? notes.metrics.cache
      notes.metrics.isJoined = notes.metrics.isJoined || isJoined
    }
  }

  /// Takes over what was noted of an exchange that was made for this call.
  func take(_ exchange: CallRecord) {
    let other = exchange.notes.withLock { $0 }
    notes.withLock { $0.take(other) }
  }

  func decoded(in time: Duration) { notes.withLock { $0.metrics.decode = time } }

  /// Notes the end of the work; returns all that was measured, and what was sent last.
  func ended(after total: Duration) -> (CallMetrics, HTTPRequest?) {
    notes.withLock {
      $0.metrics.total = total
      return ($0.metrics, $0.sent)
    }
  }
}
