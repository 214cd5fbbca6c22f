import ErrandSupport

/// The exchanges of a ``RecordingTransport`` in the order in which they began.
final class RecordingBook: Sendable {
  private let entries = Locked<[TappedExchange?]>([])

  /// Those that have ended and are to be kept.
  var ended: [TappedExchange] { entries.withLock { $0.compactMap { $0 } } }

  /// Keeps a place.
  func begin() -> Int {
    entries.withLock { entries in
      entries.append(nil)
      return entries.count - 1
    }
  }

  /// Fills a place.
  func end(_ number: Int, _ exchange: TappedExchange?) {
    entries.withLock { $0[number] = exchange }
  }
}

/// An exchange as it went over the wire, nothing masked.
struct TappedExchange: Sendable {
  let exchange: RecordedExchange
  let isTooLarge: Bool
}
