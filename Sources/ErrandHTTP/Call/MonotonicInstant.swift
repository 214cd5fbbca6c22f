import Dispatch

/// A point on the machine's monotonic clock, in nanoseconds since some start that has no meaning of its own.
///
/// Deadlines and measurements are made of it: it never jumps with the wall clock.
public struct MonotonicInstant: Sendable, Hashable, Comparable {
  /// Nanoseconds since the clock's start.
  public let nanoseconds: Int64

  /// Makes a point from nanoseconds since the clock's start.
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The present, by the system's clock.
  public static var now: MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds))
  }

  /// The point `duration` later; saturates at the ends of the clock.
  public func advanced(by duration: Duration) -> MonotonicInstant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
    if overflow { return MonotonicInstant(nanoseconds: duration < .zero ? .min : .max) }
    return MonotonicInstant(nanoseconds: sum)
  }

  /// The time from this point to another; negative when the other one is earlier.
  public func duration(to other: MonotonicInstant) -> Duration {
    let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return .nanoseconds(overflow ? (other > self ? .max : .min) : difference)
  }

  /// Orders points by time.
  public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

extension Duration {
  /// The whole nanoseconds of this duration, held to what `Int64` can say (292 years).
  package var clampedNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, tooLongYet) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return tooLong || tooLongYet ? (seconds < 0 ? .min : .max) : sum
  }

  /// The whole milliseconds of this duration, rounded up and held to `Int32`'s positive half, as C timers want them.
  package var clampedMilliseconds: Int32 {
    let nanoseconds = max(clampedNanoseconds, 0)
    return Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
  }
}
