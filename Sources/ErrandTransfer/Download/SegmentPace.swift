import ErrandCore
import ErrandSupport

/// The state that parallel ranges share: commits, the limit of uncommitted bytes, the rate limit, and the byte count.
final class SegmentPace: Committing {
  /// A paused body.
  struct Held: Sendable {
    let flow: BodyFlow
    /// Whether the body waits for a time, because of a rate limit. Otherwise it waits for the disk.
    var isTimed: Bool
  }

  struct State: CommittingState {
    var failure: (any Error)?
    var bytes: Int64
    var told: MonotonicInstant
    var commits: CommitPace
    var timer: TimerToken?
    var throttle: DownloadThrottle
    var held: [Int: Held] = [:]
    /// The writer of each body.
    var writers: [Int: PieceWriter] = [:]
  }

  /// The minimum time between two progress reports.
  fileprivate static let interval = Duration.milliseconds(50)

  let run: DownloadRun
  private let state: Locked<State>

  init(_ run: DownloadRun, there: Int64, of total: Int64) {
    let now = run.timers.now
    self.run = run
    state = Locked(
      State(
        bytes: there, told: now, commits: CommitPace(CommitRule(total: total)),
        throttle: DownloadThrottle(run.download, at: now)))
  }

  /// Why the partial file accepts no more bytes.
  var failure: (any Error)? { state.withLock { $0.failure } }

  /// Fails all ranges. Paused bodies are resumed, so that they see the failure.
  func fail(_ error: any Error) {
    state.withLock { if $0.failure == nil { $0.failure = error } }
    resume()
  }

  func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }

  func add(_ writer: PieceWriter, _ number: Int) { state.withLock { $0.writers[number] = writer } }

  func remove(_ number: Int) { state.withLock { $0.writers[number] = nil } }

  func writeGathered() throws -> Int64 {
    try state.withLock { Array($0.writers.values) }.reduce(0) { try $0 + $1.write() }
  }

  /// Reports the progress of all ranges together.
  func tell() { run.meter?.tellSideBySide(state.withLock { $0.bytes }) }

  /// Counts received bytes of a range. Returns false if the body of the range has to pause.
  func took(_ count: Int64, _ number: Int, _ flow: BodyFlow) -> Bool {
    let now = run.timers.now
    let (step, tells, delay, goesOn) = state.withLock { state -> (CommitPace.Step, Bool, Duration?, Bool) in
      let (step, tells) = state.count(count, at: now)
      let delay = state.throttle.take(count, at: now)
      let waits = state.commits.mustWait || delay != nil
      if waits { state.held[number] = Held(flow: flow, isTimed: delay != nil) }
      return (step, tells, delay, !waits)
    }
    follow(step)
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

  // MARK: - On the disk queue

  /// Resumes the bodies that wait for the disk; after a failure, all bodies.
  func resume() {
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
  /// Counts received bytes. Returns the next step of the commits, and whether progress is reported now.
  fileprivate mutating func count(_ count: Int64, at now: MonotonicInstant) -> (step: CommitPace.Step, tells: Bool) {
    bytes += count
    let step = commits.took(count, at: now)
    let tells = told.duration(to: now) >= SegmentPace.interval
    if tells { told = now }
    return (step, tells)
  }
}

/// The rate limits of one download: a limit of its own, and a limit that several downloads share.
struct DownloadThrottle: Sendable {
  private var own: RateLimiter?
  private let shared: Bandwidth?
  private var holdsUntil: MonotonicInstant?

  init(_ download: Download, at now: MonotonicInstant) {
    own = download.bytesPerSecond.map { RateLimiter($0, at: now) }
    shared = download.bandwidth
  }

  /// Counts received bytes; returns the time to pause, or nil for none.
  mutating func take(_ count: Int64, at now: MonotonicInstant) -> Duration? {
    let pauses = [own?.take(count, at: now), shared?.take(count, at: now)].compactMap(\.self)
    guard let pause = pauses.max() else { return nil }
    holdsUntil = now.advanced(by: pause)
    return pause
  }

  /// Whether the last pause has not ended yet.
  func isHolding(at now: MonotonicInstant) -> Bool { holdsUntil.map { now < $0 } ?? false }
}
