import ErrandCore
import ErrandSupport

/// What came and is not on the disk yet, and when it is brought there. Decides, and performs nothing.
struct CommitPace: Sendable {
  var rule: CommitRule
  private(set) var uncommitted: Int64 = 0
  private var last: MonotonicInstant
  private var isCommitting = false

  init(_ rule: CommitRule, at now: MonotonicInstant) {
    self.rule = rule
    last = now
  }

  /// Whether the body has to wait.
  var mustWait: Bool { rule.mustWait(uncommitted: uncommitted) }

  /// Counts what was written. True where a commit has to begin.
  mutating func took(_ count: Int64, at now: MonotonicInstant) -> Bool {
    uncommitted += count
    guard rule.isDue(uncommitted: uncommitted, since: last.duration(to: now)), !isCommitting else { return false }
    isCommitting = true
    return true
  }

  /// Notes that a commit begins though none is due.
  mutating func begin() { isCommitting = true }

  /// Notes that bytes are on the disk. True where another commit has to follow, since too much came meanwhile.
  mutating func committed(_ count: Int64, at now: MonotonicInstant, hasFailed: Bool) -> Bool {
    uncommitted -= count
    last = now
    isCommitting = !hasFailed && mustWait
    return isCommitting
  }
}

/// What is known of bytes on their way into a part.
protocol CommittingState: Sendable {
  /// Which of them are not on the disk yet.
  var commits: CommitPace { get set }
  /// Why the part takes nothing more.
  var failure: (any Error)? { get set }
}

extension DownloadRun {
  /// Commits until the disk has caught up, or something fails. On the disk lane.
  func commit(_ state: borrowing Locked<some CommittingState>) {
    var isBehind = true
    while isBehind {
      let before = state.withLock { $0.commits.uncommitted }
      do {
        try commit()
      } catch {
        state.withLock { if $0.failure == nil { $0.failure = error } }
      }
      isBehind = state.withLock { state in
        state.commits.committed(before, at: timers.now, hasFailed: state.failure != nil)
      }
    }
  }
}
