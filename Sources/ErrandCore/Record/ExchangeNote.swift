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
