import ErrandCache

/// The clock of an outbox. It follows the wall clock, but never goes back, also not across restarts, except by up to a
/// second after a crash: see ``OutboxStore/exchange(_:)``.
///
/// If the wall clock is set back, the clock of the outbox continues from the last known time. So a key is never taken
/// for younger than it is, and no wait becomes longer. If the wall clock is set forward, the clock of the outbox is,
/// too.
struct OutboxTime: Sendable, Equatable {
  /// The latest time that was read, in milliseconds since 1970.
  private(set) var last: Int64
  /// How far the wall clock was set back since the folder was created, in milliseconds.
  private(set) var correction: Int64

  init(last: Int64 = 0, correction: Int64 = 0) {
    self.last = last
    self.correction = correction
  }

  /// Reads the clock.
  mutating func read(_ wall: WallTime) -> WallTime {
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
    correction != stored.correction
      || WallTime(milliseconds: stored.last).milliseconds(to: WallTime(milliseconds: last)) >= 1_000
  }

  /// Adopts the state that another process has stored.
  mutating func merge(_ other: OutboxTime) {
    last = max(last, other.last)
    correction = max(correction, other.correction)
  }
}
