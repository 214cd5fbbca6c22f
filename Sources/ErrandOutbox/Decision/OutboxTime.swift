import ErrandCache

/// The clock of an outbox. It follows the wall clock, but does not go back, also not across restarts, except by up to a
/// second after a crash: see ``OutboxStore/exchange(_:_:)``.
///
/// If the wall clock is set back, the clock of the outbox continues from the last known time. So a key is not taken for
/// younger than it is, and no wait becomes longer. If the wall clock is set forward, the clock of the outbox is, too.
///
/// A device without a battery for its clock starts in 1970 or the like, and learns the time from the network later. So
/// if the wall clock was set back by more than a year and is then at most a year behind the last known time, only the
/// remaining difference is corrected. Otherwise all entries would expire. After a smaller change the correction stays,
/// because the time may really have passed.
///
/// While no stored time is compared with the clock, for example because no entry waits, the clock is reset to the wall
/// clock. So a wrong time of the device has no effect on the entries that are added after it was corrected. The number
/// of resets tells the other processes that their state is out of date, and that the times which they remember mean
/// nothing any more.
struct OutboxTime: Sendable, Equatable {
  /// The latest time that was read, in milliseconds since 1970.
  private(set) var last: Int64 = 0
  /// How far the wall clock was set back since the last reset, in milliseconds.
  private(set) var correction: Int64 = 0
  /// How often the clock was reset since the folder was created.
  private(set) var resets: Int64 = 0

  /// A correction above this limit, a year in milliseconds, means that the device did not know the time.
  private static let longestSetback: Int64 = 365 * 86_400_000

  mutating func read(_ wall: WallTime) -> WallTime {
    if correction > Self.longestSetback {
      let behind = wall.milliseconds(to: WallTime(milliseconds: last))
      if behind <= Self.longestSetback { correction = max(0, behind) }
    }
    let time = wall.advanced(byMilliseconds: correction).milliseconds
    if time < last {
      correction =
        WallTime(milliseconds: correction).advanced(
          byMilliseconds: WallTime(milliseconds: time).milliseconds(to: WallTime(milliseconds: last))
        ).milliseconds
    } else {
      last = time
    }
    return WallTime(milliseconds: last)
  }

  /// Whether another state must be stored in place of `stored`.
  func isAhead(of stored: OutboxTime) -> Bool {
    resets != stored.resets || correction != stored.correction
      || WallTime(milliseconds: stored.last).milliseconds(to: WallTime(milliseconds: last)) >= 1_000
  }

  /// Adopts the state that another process has stored, and reads the clock. Resets it if it was set back and
  /// `isUnused` returns true: no stored time may be compared with the clock then.
  mutating func exchange(_ stored: OutboxTime, _ wall: WallTime, isUnused: () throws -> Bool) rethrows -> WallTime {
    merge(stored)
    let now = read(wall)
    guard correction > 0, try isUnused() else { return now }
    self = OutboxTime(last: wall.milliseconds, resets: resets &+ 1)
    return wall
  }

  /// Adopts the state that another process has stored, if it is later. After a reset, only the stored state counts. A
  /// correction is adopted only with its time, because the later state may have dropped it.
  mutating func merge(_ other: OutboxTime) {
    guard other.resets == resets else { return self = other }
    if other.last > last { self = other }
  }
}
