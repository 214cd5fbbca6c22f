import ErrandSupport

/// Counts the requests to a server. The threads of the server and the scene use it.
final class TurnCounter: Sendable {
  private let count = Locked(0)

  /// The number of requests.
  var value: Int { count.withLock { $0 } }

  /// Starts again from 0, for a scene that is played again.
  func reset() { count.withLock { $0 = 0 } }

  /// Counts a request; returns the new number.
  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
