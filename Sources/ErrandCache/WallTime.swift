public import Foundation

/// A point in time on the wall clock, in milliseconds since 1970 in UTC. Results of arithmetic are clamped to the range
/// of `Int64`.
public struct WallTime: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public let milliseconds: Int64

  /// Makes a point in time from milliseconds since 1970-01-01T00:00:00Z.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Makes a point in time from a Foundation date, rounded down to a millisecond. A date outside the range of `Int64`
  /// is clamped.
  public init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded(.down)
    self.init(milliseconds: Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
  }

  /// The current time of the system clock.
  public static var now: WallTime { WallTime(Date()) }

  /// The point in time that is `distance` milliseconds later.
  public func advanced(byMilliseconds distance: Int64) -> WallTime {
    let (sum, overflow) = milliseconds.addingReportingOverflow(distance)
    return WallTime(milliseconds: overflow ? (distance < 0 ? .min : .max) : sum)
  }

  /// The milliseconds from this point in time to `other`; negative if `other` is earlier.
  public func milliseconds(to other: WallTime) -> Int64 {
    let (difference, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
    return overflow ? (other > self ? .max : .min) : difference
  }

  /// Orders points in time, earlier first.
  public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
}
