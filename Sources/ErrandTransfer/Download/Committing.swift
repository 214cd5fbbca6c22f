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

  /// Commits received bytes to disk, once or several times, until no further commit is due or a commit fails. Runs on
  /// the disk queue.
  func commit() {
    var step = CommitScheduler.Step.commit
    while step == .commit {
      var covered = withState { $0.commits.uncommitted }
      let failure = failure(of: {
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
