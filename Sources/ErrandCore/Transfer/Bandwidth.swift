import ErrandSupport

/// A speed limit that several downloads share. Assign one instance to several downloads. These downloads together then
/// receive at most the given number of bytes per second.
///
/// ```swift
/// let limit = Bandwidth(bytesPerSecond: 4 << 20)
/// download.bandwidth = limit
/// ```
///
/// The downloads take turns piece by piece, in the order in which their pieces arrive. If a download has ended or its
/// server is slow, its unused share goes to the other downloads. Downloads of several clients may share one limit.
public final class Bandwidth: Sendable {
  /// The maximum number of bytes per second of all downloads together; at least one.
  package let bytesPerSecond: Int64
  private let limiter = Locked<RateLimiter?>(nil)

  /// Makes a limit that several downloads can share.
  /// - Parameter bytesPerSecond: The maximum number of bytes per second. A number below one counts as one.
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

/// Calculates how long a transfer must pause so that it does not exceed a number of bytes per second. Several transfers
/// may share one limiter. The limiter reads no clock: the caller passes the time.
///
/// The limiter is a token bucket that holds the bytes of a tenth of a second. With a smaller bucket, the connection
/// would often be idle. With a larger bucket, many bytes would arrive at once.
package struct RateLimiter: Sendable {
  private let bytesPerSecond: Double
  private let capacity: Double
  private var tokens: Double
  private var last: MonotonicInstant

  /// Makes a limiter. The rate is at least one byte per second.
  /// - Parameter isFull: Whether the bucket is full, so that the first tenth of a second's bytes need no pause. False
  ///   for a transfer that continues an earlier one; otherwise each pause of a transfer would add a full bucket.
  package init(_ bytesPerSecond: Int64, at now: MonotonicInstant, isFull: Bool = true) {
    self.bytesPerSecond = Double(max(bytesPerSecond, 1))
    capacity = max(self.bytesPerSecond / 10, 1)
    tokens = isFull ? capacity : 0
    last = now
  }

  /// Counts received bytes. Returns the time for which the transfer must pause; nil if no pause is needed.
  package mutating func take(_ count: Int64, at now: MonotonicInstant) -> Duration? {
    let elapsed = Double(max(last.duration(to: now).clampedNanoseconds, 0)) / 1e9
    tokens = min(capacity, tokens + elapsed * bytesPerSecond) - Double(max(count, 0))
    // Several threads call this function, so `now` can be earlier than in the previous call.
    last = max(last, now)
    guard tokens < 0 else { return nil }
    return Duration.nanoseconds(Int64(min(-tokens / bytesPerSecond, 86_400) * 1e9))
  }
}
