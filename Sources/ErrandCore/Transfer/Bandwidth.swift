import ErrandSupport

/// A limit of speed that downloads share: all that have the same one keep to it together.
///
/// ```swift
/// let line = Bandwidth(bytesPerSecond: 4 << 20)
/// download.bandwidth = line
/// ```
///
/// They take turns piece by piece, in the order in which their pieces come. What one leaves, as it has ended or its server
/// is slow, the others have. Downloads of several clients may share one.
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
