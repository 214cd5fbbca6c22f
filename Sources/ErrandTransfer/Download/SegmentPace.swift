import ErrandCore
import ErrandSupport

/// What pieces that come side by side have in common: the commits, the room for bytes that are not on the disk yet, the
/// rate, and the count.
final class SegmentPace: Sendable {
  /// A body that waits.
  fileprivate struct Held: Sendable {
    let flow: BodyFlow
    /// Whether it waits for a moment; those that do not wait for the disk.
    var isTimed: Bool
  }

  fileprivate struct State: CommittingState {
    var failure: (any Error)?
    var bytes: Int64
    var told: MonotonicInstant
    var commits: CommitPace
    var throttle: DownloadThrottle
    var held: [Int: Held] = [:]
  }

  /// Between two reports of progress.
  fileprivate static let interval = Duration.milliseconds(50)

  private let run: DownloadRun
  private let state: Locked<State>

  init(_ run: DownloadRun, there: Int64, of total: Int64) {
    let now = run.timers.now
    self.run = run
    state = Locked(
      State(
        bytes: there, told: now, commits: CommitPace(CommitRule(total: total), at: now),
        throttle: DownloadThrottle(run.download, at: now)))
  }

  /// Why the part takes nothing more.
  var failure: (any Error)? { state.withLock { $0.failure } }

  /// Ends all: those that wait go on, to be told.
  func fail(_ error: any Error) {
    state.withLock { if $0.failure == nil { $0.failure = error } }
    resumeAll()
  }

  /// Tells how far all are together.
  func tell() { run.meter?.tellSideBySide(state.withLock { $0.bytes }) }

  /// Counts what was written of a piece; begins a commit where one is due. False where this body has to wait.
  func took(_ count: Int64, _ number: Int, _ flow: BodyFlow) -> Bool {
    let now = run.timers.now
    let (commits, tells, delay, goesOn) = state.withLock { state -> (Bool, Bool, Duration?, Bool) in
      let (commits, tells) = state.count(count, at: now)
      let delay = state.throttle.take(count, at: now)
      let waits = state.commits.mustWait || delay != nil
      if waits { state.held[number] = Held(flow: flow, isTimed: delay != nil) }
      return (commits, tells, delay, !waits)
    }
    if commits { run.disk.run { self.commit() } }
    if tells { tell() }
    if let delay {
      _ = run.timers.schedule(at: now.advanced(by: delay)) { [weak self] in self?.timePassed(number) }
    }
    return goesOn
  }

  private func timePassed(_ number: Int) {
    let flow = state.withLock { state -> BodyFlow? in
      state.held[number]?.isTimed = false
      if state.failure == nil, state.commits.mustWait { return nil }
      return state.held.removeValue(forKey: number)?.flow
    }
    flow?.resume()
  }

  // MARK: - On the disk lane

  private func commit() {
    run.commit(state)
    resumeAll()
  }

  /// Lets those go on that wait for the disk; after a failure, all.
  private func resumeAll() {
    let flows = state.withLock { state -> [BodyFlow] in
      let hasFailed = state.failure != nil
      if !hasFailed, state.commits.mustWait { return [] }
      let numbers = state.held.filter { hasFailed || !$0.value.isTimed }.map(\.key)
      return numbers.compactMap { state.held.removeValue(forKey: $0)?.flow }
    }
    for flow in flows { flow.resume() }
  }
}

extension SegmentPace.State {
  /// Whether a commit has to begin, and whether it is time to tell.
  fileprivate mutating func count(_ count: Int64, at now: MonotonicInstant) -> (commits: Bool, tells: Bool) {
    bytes += count
    let commits = commits.took(count, at: now)
    let tells = told.duration(to: now) >= SegmentPace.interval
    if tells { told = now }
    return (commits, tells)
  }
}
