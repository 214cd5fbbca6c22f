import ErrandSupport

/// What is noted while a call is on its way: by the stations, read at its end.
package final class CallRecord: Sendable {
  struct Notes: Sendable {
    var metrics = CallMetrics()
    var sent: HTTPRequest?
    /// When the exchange began that went to the transport last, or the first of those that are under way with it.
    var begun: MonotonicInstant?
    var isSeated = false
    var isRefreshed = false
    var cookies: String?
    /// As whom the call was frozen: several where an interceptor sent more than once.
    var accounts: [String] = []
    var isLoggedOut = false
    var isMaybeOfAnotherAccount = false
    /// Since when those exchanges wait for their turn that do so now.
    var waits: [MonotonicInstant] = []

    /// What was measured by now; of what is under way, as far as it has come.
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
      isRefreshed = isRefreshed || other.isRefreshed
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

  /// The request as it was sent last.
  package var sent: HTTPRequest? { notes.withLock { $0.sent } }

  /// When the exchange began that went to the transport last, or the first of those that are under way with it.
  package var begun: MonotonicInstant? { notes.withLock { $0.begun } }

  /// Notes that a request goes to the transport now; returns where to note what comes of it.
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

  /// Notes that the transport sends once more, since a kept connection died before a byte of the answer.
  func repeated() {
    notes.withLock {
      $0.metrics.attempts += 1
      $0.metrics.retries.append(RetryMetrics(reason: .failure(.closedBeforeResponse), delay: .zero))
    }
  }

  /// Notes what is measured of an exchange that is under way; of one that has ended, nothing.
  func measured(_ exchange: ExchangeMetrics, at place: Int) {
    notes.withLock { notes in
      guard let begun = notes.metrics.exchanges[place].begun else { return }
      notes.metrics.exchanges[place].take(exchange)
      notes.metrics.exchanges[place].begun = begun
    }
  }

  /// Notes what was measured of an exchange that has ended, and with which status; nil for none.
  func exchanged(_ exchange: ExchangeMetrics, status: Int?, at place: Int) {
    notes.withLock { $0.metrics.exchanges[place].take(exchange, status: status) }
  }

  /// Notes that an exchange has ended, and that what was measured on the way is all there is.
  func left(at place: Int, _ now: MonotonicInstant) {
    notes.withLock { $0.metrics.exchanges[place] = $0.metrics.exchanges[place].left(at: now) }
  }

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

  /// Whether the call was refreshed for.
  var isRefreshed: Bool { notes.withLock { $0.isRefreshed } }

  /// Begins as a part of a call: what it has had, this has had.
  func goesOn(from call: CallRecord) {
    if call.isRefreshed { notes.withLock { $0.isRefreshed = true } }
  }

  /// Notes as whom the call goes on.
  func goes(as account: String) {
    notes.withLock { if !$0.accounts.containsBytes(of: account) { $0.accounts.append(account) } }
  }

  /// Notes that an account's session has ended; false where it is not the call's.
  func ends(_ account: String) -> Bool {
    notes.withLock { notes in
      guard notes.accounts.containsBytes(of: account) else { return false }
      notes.isLoggedOut = true
      return true
    }
  }

  /// Notes that the credential may be another account's than the call's.
  func mayBeOfAnotherAccount() { notes.withLock { $0.isMaybeOfAnotherAccount = true } }

  /// Whether the credential may be another account's than the call's.
  var isMaybeOfAnotherAccount: Bool { notes.withLock { $0.isMaybeOfAnotherAccount } }

  /// Whether the call ends since its account was logged out.
  var isLoggedOut: Bool { notes.withLock { $0.isLoggedOut } }

  /// Notes what the jar gave for the exchange that begins.
  func carries(_ cookies: String?) { notes.withLock { $0.cookies = cookies } }

  /// What the jar gave for the exchange that began last.
  var cookies: String? { notes.withLock { $0.cookies } }

  func hopped() { notes.withLock { $0.metrics.redirects += 1 } }

  /// Whether an exchange waits for its turn.
  var waits: Bool { notes.withLock { !$0.waits.isEmpty } }

  /// Notes that an exchange waits for its turn.
  func queues(since start: MonotonicInstant) { notes.withLock { $0.waits.append(start) } }

  /// Notes that one has waited for its turn.
  func queued(since start: MonotonicInstant, until end: MonotonicInstant) {
    notes.withLock { notes in
      notes.metrics.queue += start.duration(to: end)
      if let place = notes.waits.firstIndex(of: start) { notes.waits.remove(at: place) }
    }
  }

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
  ///   - now: The moment, for what is still under way.
  func leaveSeat(_ exchange: CallRecord?, isJoined: Bool, at now: MonotonicInstant) {
    let shared = exchange?.notes.withLock { $0 }
    notes.withLock { notes in
      notes.isSeated = false
      guard let shared else { return }
      notes.take(shared, by: now)
      let report = isJoined ? shared.metrics.cache?.collapsed : shared.metrics.cache
      notes.metrics.cache = report ?? notes.metrics.cache
      notes.metrics.isJoined = notes.metrics.isJoined || isJoined
    }
  }

  /// Takes over what was noted by now of an exchange that was made for this call.
  func take(_ exchange: CallRecord, by now: MonotonicInstant) {
    let other = exchange.notes.withLock { $0 }
    notes.withLock { $0.take(other, by: now) }
  }

  func decoded(in time: Duration) { notes.withLock { $0.metrics.decode = time } }

  /// Notes the end of the work; returns all that was measured, and what was sent last.
  func ended(after total: Duration, at now: MonotonicInstant) -> (CallMetrics, HTTPRequest?) {
    notes.withLock {
      $0.metrics.total = total
      return ($0.measured(by: now), $0.sent)
    }
  }
}

/// Notes in a call's record how far an exchange has come.
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
