package import ErrandCore
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
    WallTime(milliseconds: milliseconds.saturatingSum(distance))
  }

  /// The milliseconds from this point in time to `other`; negative if `other` is earlier.
  public func milliseconds(to other: WallTime) -> Int64 { other.milliseconds.saturatingDifference(milliseconds) }

  /// Orders points in time, earlier first.
  public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
}

/// The current time on the wall clock and on the monotonic clock. The functions that make cache decisions receive this
/// value as an argument.
package struct CacheMoment: Sendable, Hashable {
  /// The time on the wall clock, which may be set back or forward.
  package let wall: WallTime
  /// The time on the monotonic clock of this process.
  package let monotonic: MonotonicInstant
}

extension HTTPDate {
  /// Parses a date in one of the three formats of RFC 9110; nil for any other text.
  static func read(_ text: String, now: WallTime) -> WallTime? {
    milliseconds(of: text, now: now.milliseconds).map { WallTime(milliseconds: $0) }
  }

  /// Formats a point in time in the preferred date format of RFC 9110. Years are clamped to the range from 0 to 9999.
  static func text(_ time: WallTime) -> String { text(milliseconds: time.milliseconds) }
}
