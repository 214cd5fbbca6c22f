public import Foundation

/// A point on the wall clock, in milliseconds since 1970 in UTC. All arithmetic saturates.
public struct WallTime: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public let milliseconds: Int64

  /// Makes a point from milliseconds since 1970-01-01T00:00:00Z.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Makes a point from Foundation's, held to what can be said.
  public init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded(.down)
    self.init(milliseconds: Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
  }

  /// The present, by the system's clock.
  public static var now: WallTime { WallTime(Date()) }

  /// The point that many milliseconds later.
  public func advanced(byMilliseconds distance: Int64) -> WallTime {
    let (sum, overflow) = milliseconds.addingReportingOverflow(distance)
    return WallTime(milliseconds: overflow ? (distance < 0 ? .min : .max) : sum)
  }

  /// The milliseconds from this point to another; negative when the other one is earlier.
  public func milliseconds(to other: WallTime) -> Int64 {
    let (difference, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
    return overflow ? (other > self ? .max : .min) : difference
  }

  /// Orders points by time.
  public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
}
