import ErrandCore
import ErrandSupport

/// The state of one or several bodies that are written into a partial file.
protocol CommittingState: Sendable {
  /// Counts the bytes that are not on the disk yet, and decides when they are committed.
  var commits: CommitPace { get set }
  /// The timer of the next commit.
  var timer: TimerToken? { get set }
  /// Why the partial file accepts no more bytes; nil while it accepts them.
  var failure: (any Error)? { get set }
}

/// Receives bytes for a partial file and commits them: after many bytes, and one second after the first uncommitted
/// byte even if no more arrive.
protocol Committing: AnyObject, Sendable {
  associatedtype State: CommittingState

  var run: DownloadRun { get }
  func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result
  /// Writes the gathered bytes into the partial file. Returns the number of bytes that are not written yet.
  func writeGathered() throws -> Int64
  /// Resumes the bodies that need not pause any longer.
  func resume()
}

extension Committing {
  /// Performs a step of ``CommitPace``.
  func follow(_ step: CommitPace.Step) {
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

  /// Commits until the disk has caught up, or something fails. Runs on the disk queue.
  func commit() {
    var step = CommitPace.Step.commit
    while step == .commit {
      var covered = withState { $0.commits.uncommitted }
      let failure = failure(of: {
        // Bytes that arrived after `covered` was read may count as unwritten here. Then `covered` is too small, never
        // too large.
        covered = max(covered - (try writeGathered()), 0)
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

  /// Writes the rest of the gathered bytes after the end of the exchange. Runs on the disk queue.
  func finish() {
    if let timer = withState({ $0.timer }) { run.timers.cancel(timer) }
    if withState({ $0.failure != nil }) { return }
    if let failure = failure(of: { _ = try writeGathered() }) { withState { $0.failure = failure } }
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
