import ErrandCore

/// Decides when received bytes are committed to disk. A pure state machine.
struct CommitPace: Sendable {
  /// The next step to perform.
  enum Step: Sendable, Equatable {
    case nothing
    /// Start a commit.
    case commit
    /// Call ``timePassed()`` at this time.
    case wake(MonotonicInstant)
  }

  var rule: CommitRule
  private(set) var uncommitted: Int64 = 0
  private var isCommitting = false
  private var hasTimer = false

  init(_ rule: CommitRule) { self.rule = rule }

  /// Whether the body has to pause.
  var mustWait: Bool { rule.mustWait(uncommitted: uncommitted) }

  /// Counts received bytes.
  mutating func took(_ count: Int64, at now: MonotonicInstant) -> Step {
    uncommitted += count
    if isCommitting { return .nothing }
    guard rule.isDue(uncommitted: uncommitted) else { return wait(at: now) }
    isCommitting = true
    return .commit
  }

  /// Records that a commit starts although ``took(_:at:)`` did not ask for one.
  mutating func begin() { isCommitting = true }

  /// Called at the time of ``Step/wake(_:)``. Returns whether a commit must start.
  mutating func timePassed() -> Bool {
    hasTimer = false
    guard uncommitted > 0, !isCommitting else { return false }
    isCommitting = true
    return true
  }

  /// Records that a commit of this many bytes has ended.
  mutating func committed(_ count: Int64, at now: MonotonicInstant, hasFailed: Bool) -> Step {
    uncommitted -= count
    isCommitting = !hasFailed && mustWait
    if isCommitting { return .commit }
    return hasFailed || uncommitted == 0 ? .nothing : wait(at: now)
  }

  private mutating func wait(at now: MonotonicInstant) -> Step {
    if hasTimer { return .nothing }
    hasTimer = true
    return .wake(now.advanced(by: CommitRule.interval))
  }
}

/// Decides when received bytes are committed to disk, and when the body pauses until they are. A pure function.
///
/// Bytes that are not on the disk are lost in a crash and fetched again. So at most a twelfth of the file may be
/// uncommitted; this limit is never below 8 MiB or above 64 MiB. Each commit costs three additional writes. So the size
/// alone makes no commit due before half of the limit.
struct CommitRule: Sendable {
  /// Received bytes are committed after this time, however few they are.
  static let interval = Duration.seconds(1)
  /// Space is reserved for files of at least this size: 1 MiB.
  static let worthReserving: Int64 = 1 << 20

  /// The body pauses when this many bytes are not on the disk yet.
  let most: Int64

  /// The rule for a file of this length; nil if the length is unknown.
  init(total: Int64?) { most = min(max((total ?? .max) / 12, 8 << 20), 64 << 20) }

  /// Whether a commit is due before the interval has passed.
  func isDue(uncommitted: Int64) -> Bool { uncommitted >= most / 2 }

  /// Whether the body has to pause.
  func mustWait(uncommitted: Int64) -> Bool { uncommitted >= most }
}
