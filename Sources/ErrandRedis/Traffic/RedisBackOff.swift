import ErrandCore

/// How long a Redis that failed is left alone: twice as long after each failure, up to five seconds.
enum RedisBackOff {
  static let first = Duration.milliseconds(100)
  static let longest = Duration.seconds(5)

  /// - Parameters:
  ///   - failures: How often in a row it has failed, from 1.
  ///   - spread: A random number from 0 to 1, by which the servers of a fleet come back one after the other.
  static func delay(failures: Int, spread: Double) -> Duration {
    let doublings = min(max(failures - 1, 0), 10)
    let full = min(first * (1 << doublings), longest)
    return full * (0.5 + 0.5 * min(max(spread, 0), 1))
  }
}
