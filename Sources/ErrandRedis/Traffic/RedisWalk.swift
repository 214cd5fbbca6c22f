import ErrandCore

/// Decides whether a walk over all keys of a database goes on. Redis ends a walk with the cursor 0; a server that never
/// does is not followed for ever.
struct RedisWalk: Sendable {
  /// A walk takes no longer than this.
  static let mostTime = Duration.seconds(60)
  /// Rounds that every walk may take, however few keys the server reports.
  static let leastRounds = 1_000
  /// No walk takes more rounds than this.
  static let mostRounds = 1_000_000

  private let end: MonotonicInstant
  private var rounds = 0
  private var keys = 0
  /// The cursors of the last power of two of rounds: a server that repeats itself meets one of them again.
  private var mark = "0"
  private var nextMark = 1

  init(now: MonotonicInstant) { end = now.advanced(by: Self.mostTime) }

  /// Whether to ask for the page at a cursor.
  /// - Parameter keys: How many keys the server says the database has; nil if it does not say.
  mutating func goesOn(to cursor: String, keys: Int64?, now: MonotonicInstant) -> Bool {
    rounds += 1
    self.keys = max(self.keys, Int(clamping: keys ?? 0))
    // A page looks at a hundred slots at least, and a table that has shrunk has ten times as many slots as keys.
    let most = min(Self.mostRounds, max(Self.leastRounds, self.keys))
    guard cursor != "0", cursor != mark, rounds < most, now < end else { return false }
    if rounds == nextMark { (mark, nextMark) = (cursor, nextMark * 2) }
    return true
  }
}
