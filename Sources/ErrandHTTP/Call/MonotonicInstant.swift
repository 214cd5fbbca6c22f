import Dispatch

/// A point on the machine's monotonic clock, in nanoseconds since an arbitrary start.
///
/// Deadlines and measurements use this clock, because changes of the wall clock do not affect it.
public struct MonotonicInstant: Sendable, Hashable, Comparable {
  /// The number of nanoseconds since the clock's start.
  public let nanoseconds: Int64

  /// Makes a point from nanoseconds since the clock's start.
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The current time of the system's monotonic clock.
  public static var now: MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds))
  }

  /// Returns the instant that is `duration` after this instant, clamped to the range of the clock.
  public func advanced(by duration: Duration) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: nanoseconds.saturatingSum(duration.clampedNanoseconds))
  }

  /// Returns the time from this instant to `other`. The time is negative if `other` is earlier.
  public func duration(to other: MonotonicInstant) -> Duration {
    .nanoseconds(other.nanoseconds.saturatingDifference(nanoseconds))
  }

  /// Returns the earlier of two points; nil if both are nil.
  package static func earliest(_ left: MonotonicInstant?, _ right: MonotonicInstant?) -> MonotonicInstant? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
  }

  /// Returns whether `left` is the earlier point.
  public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

extension Duration {
  /// The whole nanoseconds of this duration, clamped to the range of `Int64` (292 years).
  package var clampedNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

  /// The whole milliseconds of this duration, rounded up and clamped to 0 and `Int32.max`, for C timers.
  package var clampedMilliseconds: Int32 {
    let nanoseconds = max(clampedNanoseconds, 0)
    return Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
  }
}

/// Arithmetic that clamps its result to the range of `Int64` instead of trapping on overflow, for operands that may be
/// any number, because they come from servers or from the app.
extension Int64 {
  package func saturatingSum(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  package func saturatingDifference(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  package func saturatingProduct(_ other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}
