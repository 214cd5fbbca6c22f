import ErrandSupport

/// A limit of speed that downloads share: all that have the same one keep to it together.
///
/// ```swift
/// let line = Bandwidth(bytesPerSecond: 4 << 20)
/// download.bandwidth = line
/// ```
///
/// They take turns piece by piece, in the order in which their pieces come. What one leaves, as it has ended or its
/// server is slow, the others have. Downloads of several clients may share one.
public final class Bandwidth: Sendable {
  /// The most bytes in a second of all that share it; at least one.
  public let bytesPerSecond: Int64
  private let limiter = Locked<RateLimiter?>(nil)

  /// Makes a limit.
  /// - Parameter bytesPerSecond: The most bytes in a second; less than one counts as one.
  public init(bytesPerSecond: Int64) { self.bytesPerSecond = max(bytesPerSecond, 1) }

  /// Counts bytes that have come for one of them; gives the time that it has to pause, nil for none.
  package func take(_ count: Int64, at now: MonotonicInstant) -> Duration? {
    limiter.withLock { limiter in
      var known = limiter ?? RateLimiter(bytesPerSecond, at: now)
      defer { limiter = known }
      return known.take(count, at: now)
    }
  }
}

/// Says how long a body has to pause to keep to a number of bytes a second, and each of several that share it. Told
/// moments; reads no clock.
///
/// A token bucket that holds a tenth of a second's worth, so that the line is neither idle nor flooded.
package struct RateLimiter: Sendable {
  private let bytesPerSecond: Double
  private let capacity: Double
  private var tokens: Double
  private var last: MonotonicInstant

  /// Begins with a full bucket; at least one byte a second.
  package init(_ bytesPerSecond: Int64, at now: MonotonicInstant) {
    self.bytesPerSecond = Double(max(bytesPerSecond, 1))
    capacity = max(self.bytesPerSecond / 10, 1)
    tokens = capacity
    last = now
  }

  /// Counts bytes that have come; gives the time to pause, nil for none.
  package mutating func take(_ count: Int64, at now: MonotonicInstant) -> Duration? {
    let elapsed = Double(max(last.duration(to: now).clampedNanoseconds, 0)) / 1e9
    tokens = min(capacity, tokens + elapsed * bytesPerSecond) - Double(max(count, 0))
    // Several threads may come with moments in another order.
    last = max(last, now)
    guard tokens < 0 else { return nil }
    return Duration.nanoseconds(Int64(min(-tokens / bytesPerSecond, 86_400) * 1e9))
  }
}
