import ErrandSupport

/// Counts the requests to a server. The counter is thread-safe, because the server's threads and the scene of the demo
/// use it.
final class TurnCounter: Sendable {
  private let count = Locked(0)

  /// The number of requests that the server has received since the last reset.
  var value: Int { count.withLock { $0 } }

  /// Sets the counter to 0. A scene of the demo calls this function first, because the scene can be played more than
  /// once.
  func reset() { count.withLock { $0 = 0 } }

  /// Counts a request. Returns the number of requests including this request.
  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
