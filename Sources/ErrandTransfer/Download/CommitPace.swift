import ErrandCore

/// Decides when received bytes are committed to the disk. It performs nothing.
struct CommitPace: Sendable {
  /// The next thing to do.
  enum Step: Sendable, Equatable {
    case nothing
    /// A commit begins.
    case commit
    /// ``timePassed()`` is to be called at this time.
    case wake(MonotonicInstant)
  }

  var rule: CommitRule
  private(set) var uncommitted: Int64 = 0
  private var isCommitting = false
  private var hasTimer = false

  init(_ rule: CommitRule) { self.rule = rule }

  /// Whether the body has to wait.
  var mustWait: Bool { rule.mustWait(uncommitted: uncommitted) }

  /// Counts received bytes.
  mutating func took(_ count: Int64, at now: MonotonicInstant) -> Step {
    uncommitted += count
    if isCommitting { return .nothing }
    guard rule.isDue(uncommitted: uncommitted) else { return wait(at: now) }
    isCommitting = true
    return .commit
  }

  /// Notes that a commit begins though none is due.
  mutating func begin() { isCommitting = true }

  /// Called at the time of ``Step/wake(_:)``. True if a commit has to begin.
  mutating func timePassed() -> Bool {
    hasTimer = false
    guard uncommitted > 0, !isCommitting else { return false }
    isCommitting = true
    return true
  }

  /// Notes that bytes are on the disk.
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

/// When bytes are brought to the disk, and when the body waits for that. A function of values.
///
/// What is not on the disk is fetched twice after a crash: so at most a twelfth of the file, or 8 MiB where that is
/// more, and never over 64 MiB. Each time takes the disk three writes beside the bytes, so none comes before half of
/// that.
struct CommitRule: Sendable {
  /// Received bytes are committed after this time, however few they are.
  static let interval = Duration.seconds(1)
  /// Room is set aside for files from this size on: 1 MiB.
  static let worthReserving: Int64 = 1 << 20

  /// From so many bytes on that are not on the disk yet, the body pauses.
  let most: Int64

  /// The rule for a file of a length; nil where nobody has said.
  init(total: Int64?) { most = min(max((total ?? .max) / 12, 8 << 20), 64 << 20) }

  /// Whether a commit is due before the time is over.
  func isDue(uncommitted: Int64) -> Bool { uncommitted >= most / 2 }

  /// Whether the body has to wait.
  func mustWait(uncommitted: Int64) -> Bool { uncommitted >= most }
}
