/// Where a transport notes how far an exchange has come: what a call has of it that does not wait for its end.
package struct ExchangeNote: Sendable {
  private let record: CallRecord
  private let place: Int

  init(_ record: CallRecord, at place: Int) {
    self.record = record
    self.place = place
  }

  /// Notes what is measured so far, in the place of what was before.
  package func measured(_ metrics: ExchangeMetrics) { record.measured(metrics, at: place) }

  /// Notes that it is sent once more, since a kept connection died before a byte of the answer.
  package func repeated() { record.repeated() }

  /// Notes that it brought an answer.
  func answered(_ response: HTTPResponse) { record.exchanged(response.metrics, status: response.status, at: place) }

  /// Notes that it brought none, or that its call left it.
  func failed(_ error: any Error, at now: MonotonicInstant) {
    if let metrics = (error as? TransportFailure)?.metrics { return record.exchanged(metrics, status: nil, at: place) }
    record.left(at: place, now)
  }
}
