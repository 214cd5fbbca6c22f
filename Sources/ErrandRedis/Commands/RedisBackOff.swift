import ErrandCore

/// The pause before the next attempt to connect to Redis. It is doubled after each failure, up to five seconds.
enum RedisBackOff {
  static let first = Duration.milliseconds(100)
  static let longest = Duration.seconds(5)

  /// Returns the pause before the next attempt.
  /// - Parameters:
  ///   - failures: The number of consecutive failures, from 1.
  ///   - spread: A random number from 0 to 1. It varies the pause, so that application servers do not all connect at
  ///     the same moment.
  static func delay(failures: Int, spread: Double) -> Duration {
    let doublings = min(max(failures - 1, 0), 10)
    let full = min(first * (1 << doublings), longest)
    return full * (0.5 + 0.5 * min(max(spread, 0), 1))
  }
}
