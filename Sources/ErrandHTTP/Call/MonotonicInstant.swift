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
    let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
    if overflow { return MonotonicInstant(nanoseconds: duration < .zero ? .min : .max) }
    return MonotonicInstant(nanoseconds: sum)
  }

  /// Returns the time from this instant to `other`. The time is negative if `other` is earlier.
  public func duration(to other: MonotonicInstant) -> Duration {
    let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return .nanoseconds(overflow ? (other > self ? .max : .min) : difference)
  }

  /// Returns whether `left` is the earlier point.
  public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

extension Duration {
  /// The whole nanoseconds of this duration, clamped to the range of `Int64` (292 years).
  package var clampedNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, tooLongYet) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return tooLong || tooLongYet ? (seconds < 0 ? .min : .max) : sum
  }

  /// The whole milliseconds of this duration, rounded up and clamped to 0 and `Int32.max`, for C timers.
  package var clampedMilliseconds: Int32 {
    let nanoseconds = max(clampedNanoseconds, 0)
    return Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
  }
}

/// A clock with timers. The timers schedule everything that waits for a point in time: deadlines, delays and idle
/// timeouts of all calls.
///
/// An implementation keeps the timers of all its calls in one heap, so that no call needs a task for its timers. A
/// transport with its own thread, such as the engine on Linux, provides timers that run on that thread. All other
/// transports share ``SharedTimers``, and tests use a clock that they advance manually.
public protocol Timers: AnyObject, Sendable {
  /// The current time of this clock.
  var now: MonotonicInstant { get }

  /// Runs `action` once on the thread of the timers: at `instant` or shortly after it, or immediately if `instant` has
  /// passed.
  ///
  /// The action must be short and must not block. No lock is held while the action runs.
  func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken

  /// Removes a scheduled action. Has no effect if the action has already run or is about to run.
  func cancel(_ token: TimerToken)
}

/// Identifies one scheduled action of ``Timers``.
public struct TimerToken: Sendable, Hashable {
  /// The number of the action. The timers never use a number twice.
  public let number: UInt64

  /// Makes a token from a number. An implementation of ``Timers`` must never use a number twice.
  public init(number: UInt64) {
    self.number = number
  }
}
