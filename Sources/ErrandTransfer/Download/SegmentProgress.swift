import ErrandCore
import ErrandSupport

/// The state that the parallel range requests of one download share: the commits to disk, the rate limit and the number
/// of received bytes.
final class SegmentProgress: Committing {
  struct PausedBody: Sendable {
    let flow: BodyFlow
    /// True if the body waits for a certain time, because of a rate limit. False if the body waits until received bytes
    /// are committed to disk.
    var isTimed: Bool
  }

  struct State: CommittingState {
    var failure: (any Error)?
    var bytes: Int64
    var lastReport: MonotonicInstant
    var commits: CommitScheduler
    var timer: TimerToken?
    var throttle: DownloadThrottle
    var paused: [Int: PausedBody] = [:]
    /// The objects that write the response bodies into the partial file, by the numbers of their ranges.
    var writers: [Int: PieceWriter] = [:]
  }

  /// The minimum time between two progress reports.
  private static let interval = Duration.milliseconds(50)

  let run: DownloadRun
  private let state: Locked<State>

  init(_ run: DownloadRun, there: Int64, of total: Int64) {
    let now = run.timers.now
    self.run = run
    state = Locked(
      State(
        bytes: there, lastReport: now, commits: CommitScheduler(CommitLimit(total: total)),
        throttle: run.throttle(at: now)))
  }

  /// The error after which the partial file accepts no more bytes; nil if there is none.
  var failure: (any Error)? { state.withLock { $0.failure } }

  /// Stores an error that ends all parallel requests. Paused response bodies are resumed, so that they notice the
  /// error.
  func fail(_ error: any Error) {
    state.withLock { if $0.failure == nil { $0.failure = error } }
    resume()
  }

  func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }

  func add(_ writer: PieceWriter, _ number: Int) { state.withLock { $0.writers[number] = writer } }

  func remove(_ number: Int) { state.withLock { $0.writers[number] = nil } }

  func writeBuffered() throws -> Int64 {
    try state.withLock { Array($0.writers.values) }.reduce(0) { try $0 + $1.write() }
  }

  func report() { run.meter?.reportSideBySide(state.withLock { $0.bytes }) }

  /// Counts received bytes of a range. Returns false if the response body with this range must pause.
  func took(_ count: Int64, _ number: Int, _ flow: BodyFlow) -> Bool {
    let now = run.timers.now
    let (step, reports, delay, acceptsMore) = state.withLock { state -> (CommitScheduler.Step, Bool, Duration?, Bool) in
      state.bytes += count
      let step = state.commits.took(count, at: now)
      let reports = state.lastReport.duration(to: now) >= Self.interval
      if reports { state.lastReport = now }
      let delay = state.throttle.take(count, at: now)
      let waits = state.commits.mustWait || delay != nil
      if waits { state.paused[number] = PausedBody(flow: flow, isTimed: delay != nil) }
      return (step, reports, delay, !waits)
    }
    follow(step)
    if reports { report() }
    if let delay {
      _ = run.timers.schedule(at: now.advanced(by: delay)) { [weak self] in self?.timePassed(number) }
    }
    return acceptsMore
  }

  private func timePassed(_ number: Int) {
    let flow = state.withLock { state -> BodyFlow? in
      state.paused[number]?.isTimed = false
      if state.failure == nil, state.commits.mustWait { return nil }
      return state.paused.removeValue(forKey: number)?.flow
    }
    flow?.resume()
  }

  // MARK: - On the disk queue

  /// Resumes the response bodies that waited for bytes to be committed to disk. After a failure, resumes all bodies.
  func resume() {
    let flows = state.withLock { state -> [BodyFlow] in
      let hasFailed = state.failure != nil
      if !hasFailed, state.commits.mustWait { return [] }
      let numbers = state.paused.filter { hasFailed || !$0.value.isTimed }.map(\.key)
      return numbers.compactMap { state.paused.removeValue(forKey: $0)?.flow }
    }
    for flow in flows { flow.resume() }
  }
}

/// The rate limits of one download: its own limit, and a limit that several downloads share.
struct DownloadThrottle: Sendable {
  private var own: RateLimiter?
  private let shared: Bandwidth?
  private var holdsUntil: MonotonicInstant?

  /// - Parameter continues: Whether bytes of the file have arrived before, in this call or in an earlier one.
  init(_ download: Download, at now: MonotonicInstant, continues: Bool = false) {
    own = download.bytesPerSecond.map { RateLimiter($0, at: now, isFull: !continues) }
    shared = download.bandwidth
  }

  /// Counts received bytes. Returns how long the response body must pause to keep the rate limits; nil if it need not
  /// pause.
  mutating func take(_ count: Int64, at now: MonotonicInstant) -> Duration? {
    let pauses = [own?.take(count, at: now), shared?.take(count, at: now)].compactMap(\.self)
    guard let pause = pauses.max() else { return nil }
    holdsUntil = now.advanced(by: pause)
    return pause
  }

  /// Whether the rate limits require that the response body is still paused at this time.
  func isHolding(at now: MonotonicInstant) -> Bool { holdsUntil.map { now < $0 } ?? false }
}
