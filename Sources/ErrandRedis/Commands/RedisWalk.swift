import ErrandCore

/// Decides whether a scan of all keys of a database continues. Redis ends a scan with the cursor 0. The limits of this
/// type end a scan if Redis never returns 0.
struct RedisWalk: Sendable {
  /// The maximum duration of a scan of all keys.
  static let mostTime = Duration.seconds(60)
  /// The number of pages that a scan may always read, even if Redis reports that the database has few keys.
  static let leastRounds = 1_000
  /// The maximum number of pages that a scan may read.
  static let mostRounds = 1_000_000

  private let end: MonotonicInstant
  private var rounds = 0
  private var keys = 0
  /// The cursor of the last page whose number was a power of two. If Redis returns this cursor again, Redis repeats its
  /// cursors, and the scan ends.
  private var mark = "0"
  private var nextMark = 1

  init(now: MonotonicInstant) { end = now.advanced(by: Self.mostTime) }

  /// Whether the scan continues with the page at `cursor`.
  /// - Parameter keys: The number of keys in the database, as Redis reports it; nil if the reply contains no number.
  mutating func continues(to cursor: String, keys: Int64?, now: MonotonicInstant) -> Bool {
    rounds += 1
    self.keys = max(self.keys, Int(clamping: keys ?? 0))
    // A page covers at least a hundred slots of Redis' hash table. A table that has shrunk has at most ten slots per
    // key, so there are fewer pages than keys.
    let most = min(Self.mostRounds, max(Self.leastRounds, self.keys))
    guard cursor != "0", cursor != mark, rounds < most, now < end else { return false }
    if rounds == nextMark { (mark, nextMark) = (cursor, nextMark * 2) }
    return true
  }
}
