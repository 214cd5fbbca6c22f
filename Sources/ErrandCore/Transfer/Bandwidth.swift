import ErrandSupport

/// A speed limit that downloads share: all downloads with the same instance keep to it together.
///
/// ```swift
/// let limit = Bandwidth(bytesPerSecond: 4 << 20)
/// download.bandwidth = limit
/// ```
///
/// The downloads take turns piece by piece, in the order in which their pieces arrive. If a download has ended or its
/// server is slow, its unused share goes to the other downloads. Downloads of several clients may share one limit.
public final class Bandwidth: Sendable {
  /// The most bytes per second of all downloads that share the limit; at least one.
  public let bytesPerSecond: Int64
  private let limiter = Locked<RateLimiter?>(nil)

  /// Makes a limit.
  /// - Parameter bytesPerSecond: The most bytes per second; less than one counts as one.
  public init(bytesPerSecond: Int64) { self.bytesPerSecond = max(bytesPerSecond, 1) }

  /// Counts received bytes of one download. Returns the time for which the download must pause; nil if no pause is
  /// needed.
  package func take(_ count: Int64, at now: MonotonicInstant) -> Duration? {
    limiter.withLock { limiter in
      var known = limiter ?? RateLimiter(bytesPerSecond, at: now)
      defer { limiter = known }
      return known.take(count, at: now)
    }
  }
}

/// Calculates how long a transfer has to pause to keep to a number of bytes per second; several transfers may share one
/// limiter. The limiter reads no clock: the caller passes the time.
///
/// The limiter is a token bucket. Its capacity is the bytes of a tenth of a second, so that the connection is neither
/// idle nor flooded.
package struct RateLimiter: Sendable {
  private let bytesPerSecond: Double
  private let capacity: Double
  private var tokens: Double
  private var last: MonotonicInstant

  /// Begins with a full bucket; the rate is at least one byte per second.
  package init(_ bytesPerSecond: Int64, at now: MonotonicInstant) {
    self.bytesPerSecond = Double(max(bytesPerSecond, 1))
    capacity = max(self.bytesPerSecond / 10, 1)
    tokens = capacity
    last = now
  }

  /// Counts received bytes; returns the time to pause, or nil if no pause is needed.
  package mutating func take(_ count: Int64, at now: MonotonicInstant) -> Duration? {
    let elapsed = Double(max(last.duration(to: now).clampedNanoseconds, 0)) / 1e9
    tokens = min(capacity, tokens + elapsed * bytesPerSecond) - Double(max(count, 0))
    // Several threads call this, so `now` can be earlier than in the call before.
    last = max(last, now)
    guard tokens < 0 else { return nil }
    return Duration.nanoseconds(Int64(min(-tokens / bytesPerSecond, 86_400) * 1e9))
  }
}
