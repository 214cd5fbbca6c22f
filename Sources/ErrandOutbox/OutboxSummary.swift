public import ErrandCache

/// The number of entries in each state.
public struct OutboxSummary: Sendable, Hashable {
  /// The number of entries in each state; states without entries are missing.
  public internal(set) var counts: [OutboxState: Int] = [:]
  /// The time at which the oldest entry that is queued or being sent was added; nil if there is none.
  public internal(set) var oldest: WallTime?

  /// The number of entries that are queued or being sent.
  public var waiting: Int { counts[.queued, default: 0] + counts[.sending, default: 0] }
  /// The number of entries that need a decision of the app.
  public var deadLetters: Int { counts.reduce(0) { $1.key.isDeadLetter ? $0 + $1.value : $0 } }
}

/// A lane with entries that wait.
public struct OutboxLane: Sendable, Hashable {
  /// The parts of the lane, percent-encoded and separated by slashes.
  public let name: String
  /// The account; nil for entries without an account.
  public let account: String?
  /// The number of entries that wait or stop the lane.
  public let count: Int
  /// The first of these entries.
  public let first: OutboxEntry.ID
  /// True if a failed entry stops the lane.
  public let isStopped: Bool
}

/// What happens to the entries of an account that logs out.
public enum OutboxLogout: Sendable, Hashable {
  /// The entries wait until the account logs in again.
  case keep
  /// The entries are sent first, until none is left or the time has passed. The rest is kept. If another process sends,
  /// this process notices the end within five seconds.
  case sendFirst(within: Duration)
  /// The entries are discarded.
  case discard
}
