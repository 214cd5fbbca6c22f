import ErrandCore

/// Says how long a body has to pause to keep to a number of bytes a second. Told moments; reads no clock.
///
/// A token bucket that holds a tenth of a second's worth, so that the line is neither idle nor flooded.
struct RateLimiter: Sendable {
  private let bytesPerSecond: Double
  private let capacity: Double
  private var tokens: Double
  private var last: MonotonicInstant
  private var holdsUntil: MonotonicInstant?

  /// Begins with a full bucket; at least one byte a second.
  init(_ bytesPerSecond: Int64, at now: MonotonicInstant) {
    self.bytesPerSecond = Double(max(bytesPerSecond, 1))
    capacity = max(self.bytesPerSecond / 10, 1)
    tokens = capacity
    last = now
  }

  /// Counts bytes that have come; gives the time to pause, nil for none.
  mutating func take(_ count: Int64, at now: MonotonicInstant) -> Duration? {
    let elapsed = Double(max(last.duration(to: now).clampedNanoseconds, 0)) / 1e9
    tokens = min(capacity, tokens + elapsed * bytesPerSecond) - Double(max(count, 0))
    last = now
    guard tokens < 0 else { return nil }
    let pause = Duration.nanoseconds(Int64(min(-tokens / bytesPerSecond, 86_400) * 1e9))
    holdsUntil = now.advanced(by: pause)
    return pause
  }

  /// Whether a pause is not over yet.
  func isHolding(at now: MonotonicInstant) -> Bool { holdsUntil.map { now < $0 } ?? false }
}
