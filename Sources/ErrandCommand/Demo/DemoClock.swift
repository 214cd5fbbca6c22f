import ErrandCache
import ErrandSupport

/// A wall clock for a cache that can be set forward, so that nobody has to wait.
final class DemoClock: Sendable {
  private let ahead = Locked(Duration.zero)

  /// The present, as far ahead as it was set.
  var now: WallTime {
    let milliseconds = ahead.withLock { $0 } / .milliseconds(1)
    return WallTime.now.advanced(byMilliseconds: Int64(milliseconds))
  }

  /// Sets the clock forward.
  func advance(by distance: Duration) { ahead.withLock { $0 += distance } }
}
