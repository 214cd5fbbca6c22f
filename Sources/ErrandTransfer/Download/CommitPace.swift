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
