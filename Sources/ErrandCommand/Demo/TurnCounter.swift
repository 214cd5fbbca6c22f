import ErrandSupport

/// Counts how often a server was asked; its threads and the scene look here.
final class TurnCounter: Sendable {
  private let count = Locked(0)

  /// How often it was asked.
  var value: Int { count.withLock { $0 } }

  /// Begins anew, for a scene that is played again.
  func reset() { count.withLock { $0 = 0 } }

  /// Counts once more; returns how often that makes.
  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
