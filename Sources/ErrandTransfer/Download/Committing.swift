import ErrandCore
import ErrandSupport

/// The state of one or several response bodies that are written into a partial file.
protocol CommittingState: Sendable {
  /// Counts the bytes that are not on the disk yet, and decides when they are committed.
  var commits: CommitScheduler { get set }
  /// The timer that starts the next commit; nil if no commit is scheduled.
  var timer: TimerToken? { get set }
  /// The error after which the partial file accepts no more bytes; nil while it accepts bytes.
  var failure: (any Error)? { get set }
}

/// Receives bytes for a partial file and commits them to disk. A commit starts after many bytes, or one second after
/// the first uncommitted byte even if no more bytes arrive.
protocol Committing: AnyObject, Sendable {
  associatedtype State: CommittingState

  var run: DownloadRun { get }
  func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result
  /// Writes the buffered bytes into the partial file. Returns the number of received bytes that are still not written.
  /// Bytes may be left because another thread is writing them, or because they arrived during this call.
  func writeBuffered() throws -> Int64
  /// Resumes each paused response body that may continue now.
  func resume()
}

extension Committing {
  /// Performs the step that ``CommitScheduler`` has returned.
  func follow(_ step: CommitScheduler.Step) {
    switch step {
    case .nothing: break
    case .commit: run.disk.run { self.commit() }
    case .wake(let instant):
      let timer = run.timers.schedule(at: instant) { [weak self] in
        guard let self, withState({ $0.commits.timePassed() }) else { return }
        run.disk.run { self.commit() }
      }
      withState { $0.timer = timer }
    }
  }

  /// Commits received bytes to disk, once or several times, until no further commit is due or a commit fails. Commits
  /// nothing after a failure, because the bytes and the metadata record may then belong to different versions of the
  /// file. Runs on the disk queue.
  func commit() {
    var step = CommitScheduler.Step.commit
    while step == .commit {
      var covered = withState { $0.commits.uncommitted }
      let failure = failure(of: {
        if let earlier = withState({ $0.failure }) { throw earlier }
        // `covered` is the number of bytes that this commit brings to disk. Subtract all bytes that are not written
        // yet. Some of them may have arrived after `covered` was read, so the result may be too small. It is never too
        // large, so no uncommitted byte counts as committed.
        covered = max(covered - (try writeBuffered()), 0)
        try run.commit()
      })
      step = withState { [covered] state in
        if state.failure == nil { state.failure = failure }
        return state.commits.committed(covered, at: run.timers.now, hasFailed: state.failure != nil)
      }
    }
    follow(step)
    resume()
  }

  /// Writes the remaining buffered bytes after the end of the HTTP exchange. Runs on the disk queue.
  func finish() {
    if let timer = withState({ $0.timer }) { run.timers.cancel(timer) }
    if withState({ $0.failure != nil }) { return }
    if let failure = failure(of: { _ = try writeBuffered() }) { withState { $0.failure = failure } }
  }

  private func failure(of body: () throws -> Void) -> (any Error)? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }
}

/// Decides when received bytes are committed to disk. This type is a state machine without side effects.
struct CommitScheduler: Sendable {
  /// The next step that the caller of the scheduler must perform.
  enum Step: Sendable, Equatable {
    case nothing
    /// The caller must start to commit the received bytes to disk.
    case commit
    /// The caller must set a timer, and must call ``timePassed()`` at this time.
    case wake(MonotonicInstant)
  }

  var limit: CommitLimit
  private(set) var uncommitted: Int64 = 0
  private var isCommitting = false
  private var hasTimer = false

  init(_ limit: CommitLimit) { self.limit = limit }

  /// Whether the response body must pause, because too many received bytes are not on the disk yet.
  var mustWait: Bool { limit.mustWait(uncommitted: uncommitted) }

  /// Counts received bytes, and returns the next step that the caller must perform.
  mutating func took(_ count: Int64, at now: MonotonicInstant) -> Step {
    uncommitted += count
    if isCommitting { return .nothing }
    guard limit.isDue(uncommitted: uncommitted) else { return wait(at: now) }
    isCommitting = true
    return .commit
  }

  /// Called when the caller starts a commit that ``took(_:at:)`` did not request. Records that the commit is running.
  mutating func begin() { isCommitting = true }

  /// Called when the timer of ``Step/wake(_:)`` fires. Returns true if the caller must start a commit now.
  mutating func timePassed() -> Bool {
    hasTimer = false
    guard uncommitted > 0, !isCommitting else { return false }
    isCommitting = true
    return true
  }

  /// Records that a commit of `count` bytes has ended. Returns the next step that the caller must perform.
  mutating func committed(_ count: Int64, at now: MonotonicInstant, hasFailed: Bool) -> Step {
    uncommitted -= count
    isCommitting = !hasFailed && mustWait
    if isCommitting { return .commit }
    return hasFailed || uncommitted == 0 ? .nothing : wait(at: now)
  }

  private mutating func wait(at now: MonotonicInstant) -> Step {
    if hasTimer { return .nothing }
    hasTimer = true
    return .wake(now.advanced(by: CommitLimit.interval))
  }
}

/// The limit for received bytes that are not committed to disk. It determines when a commit is due, and when the
/// response body must pause until bytes are committed.
///
/// Bytes that are not on the disk are lost in a crash and fetched again. So at most a twelfth of the file may be
/// uncommitted; this limit is never below 8 MiB or above 64 MiB. Each commit costs three additional writes, so commits
/// must not be frequent. A commit is due when the uncommitted bytes reach half of the limit, or after ``interval``.
struct CommitLimit: Sendable {
  /// The time after which received bytes are committed, even if they are few.
  static let interval = Duration.seconds(1)
  /// The minimum length in bytes of files for which disk space is reserved: 1 MiB.
  static let worthReserving: Int64 = 1 << 20

  /// The maximum number of uncommitted bytes. When it is reached, the response body pauses.
  let most: Int64

  /// Creates the limit for a file of this length in bytes. `total` is nil if the length is unknown.
  init(total: Int64?) { most = min(max((total ?? .max) / 12, 8 << 20), 64 << 20) }

  /// Whether a commit is due before ``interval`` has passed, because of the number of uncommitted bytes.
  func isDue(uncommitted: Int64) -> Bool { uncommitted >= most / 2 }

  /// Whether the response body must pause, because too many received bytes are not on the disk yet.
  func mustWait(uncommitted: Int64) -> Bool { uncommitted >= most }
}
