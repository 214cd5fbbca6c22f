import ErrandCore
import ErrandSupport
import Foundation

/// Writes the body of one response into the partial file, if the response headers fit the requested range.
///
/// The transport's thread buffers and writes the pieces of the body. The disk queue commits written bytes at the same
/// time. The body pauses if too many bytes are not committed yet.
final class DownloadSink: BodySink, Committing {
  /// The outcome of the HTTP exchange whose response body this sink received.
  struct Report: Sendable {
    /// The decision about the response headers; nil if no headers with an accepted status arrived.
    var decision: ResumeDecision?
    /// The number of bytes of the response body that have arrived.
    var received: Int64 = 0
    /// Whether the response body arrived completely.
    var isWhole = false
    /// The error after which the partial file accepts no more bytes; nil while it accepts bytes.
    var failure: (any Error)?

    /// Whether the response contains the whole file, starting at the first byte.
    var isFresh: Bool { if case .fresh = decision { true } else { false } }
  }

  struct State: CommittingState {
    var report = Report()
    /// The offset in the file at which the response body starts.
    var place: Int64 = 0
    /// The length of the response body in bytes; nil if it is not known.
    var expected: Int64?
    var flow: BodyFlow?
    /// Whether the body of a response was accepted.
    var hasBody = false
    /// Whether the disk queue is emptying the partial file or reserving disk space for it.
    var isPreparing = false
    var isPaused = false
    var commits = CommitScheduler(CommitLimit(total: nil))
    var timer: TimerToken?
    var throttle: DownloadThrottle

    var failure: (any Error)? {
      get { report.failure }
      set { report.failure = newValue }
    }
  }

  let run: DownloadRun
  private let requested: RequestedRange
  private let writer: PieceWriter
  private let state: Locked<State>

  init(_ run: DownloadRun, _ requested: RequestedRange) {
    self.run = run
    self.requested = requested
    writer = PieceWriter(run.part)
    state = Locked(State(throttle: run.throttle(at: run.timers.now)))
  }

  /// The outcome of the HTTP exchange. It is complete after ``Committing/finish()`` has returned.
  var report: Report { state.withLock { $0.report } }

  // MARK: - On the transport's thread

  /// - Throws: `BodyBegunTwice` if the body of another response was accepted before. An interceptor may send a request
  ///   again, but the bytes of two bodies must not mix.
  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    if state.withLock({ $0.hasBody }) { throw BodyBegunTwice() }
    let decision = run.decide(head, to: requested)
    state.withLock {
      $0.report.decision = decision
      $0.flow = flow
    }
    try noted { try run.checkSize(decision.total) }
    switch decision {
    case .append(let range, let total):
      run.learn(total: total)
      run.meter?.begin(behind: range.lowerBound, total: total)
      state.withLock {
        $0.place = range.lowerBound
        $0.expected = range.upperBound - range.lowerBound
      }
      run.noteWhole(by: head)
      prepare(total)
    case .fresh(let properties):
      run.meter?.begin(behind: 0, total: properties.total)
      state.withLock { $0.expected = properties.total }
      prepare(properties, head)
    case .begin(let range, let properties):
      run.meter?.begin(behind: 0, total: properties.total)
      state.withLock { $0.expected = range.upperBound - range.lowerBound }
      prepare(properties, head)
    case .mismatch(let mismatch): throw mismatch
    case .alreadyWhole, .startOver, .failKeepingPart, .failDroppingPart: return .memory(limit: 1 << 20)
    }
    state.withLock { $0.hasBody = true }
    return .sink
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    let count = Int64(piece.count)
    try noted {
      try check(count)
      try writer.take(piece)
    }
    return countReceived(count)
  }

  func end() throws {
    try state.withLock { state in
      if let failure = state.report.failure { throw failure }
      state.report.isWhole = true
    }
  }

  // MARK: - Writing

  func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }

  func writeBuffered() throws -> Int64 { try writer.write() }

  /// Throws if the partial file accepts no more bytes, or if `count` more bytes exceed the announced length or the size
  /// limit.
  private func check(_ count: Int64) throws {
    let (failure, place, received, expected) = state.withLock {
      ($0.failure, $0.place, $0.report.received, $0.expected)
    }
    if let failure { throw failure }
    if let expected, received + count > expected { throw ResumeMismatch.excess(expected: expected) }
    try run.checkSize(place + received + count)
  }

  /// Runs a closure that checks or stores received bytes. If the closure throws an error, the error is stored, and the
  /// partial file accepts no more bytes.
  private func noted(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      state.withLock { $0.report.failure = error }
      throw error
    }
  }

  /// Counts received bytes. Returns false if the response body must pause.
  private func countReceived(_ count: Int64) -> Bool {
    let now = run.timers.now
    let (step, delay, acceptsMore) = state.withLock { state -> (CommitScheduler.Step, Duration?, Bool) in
      state.report.received += count
      let step = state.commits.took(count, at: now)
      let delay = state.throttle.take(count, at: now)
      if state.isPreparing || state.commits.mustWait || delay != nil { state.isPaused = true }
      return (step, delay, !state.isPaused)
    }
    follow(step)
    if let delay {
      _ = run.timers.schedule(at: now.advanced(by: delay)) { [weak self] in self?.resume(byTimer: true) }
    }
    return acceptsMore
  }

  // MARK: - On the disk queue

  /// Prepares the partial file for the bytes of a new version of the file. The partial file is emptied before the first
  /// byte is written.
  private func prepare(_ properties: ResponseProperties, _ head: ResponseHead) {
    run.forgetVersion()
    run.noteWhole(by: head)
    prepare(properties.total) { try self.run.begin(properties) }
  }

  /// Runs `begin` on the disk queue and reserves disk space, before the first byte is written.
  private func prepare(_ total: Int64?, _ begin: @escaping @Sendable () throws -> Void = {}) {
    state.withLock {
      $0.commits.limit = CommitLimit(total: total)
      $0.isPreparing = true
    }
    writer.hold()
    run.disk.run {
      var isUnlisted = false
      do {
        try self.run.checkName()
        try begin()
        try self.run.reserve(total)
        isUnlisted = self.run.isUnlisted(total)
        if isUnlisted { self.state.withLock { $0.commits.begin() } }
        try self.writer.release()
        self.state.withLock { $0.isPreparing = false }
      } catch {
        self.fail(error)
        isUnlisted = false
      }
      self.resume()
      // This commit writes the first metadata record, so that a later run of the app finds the download even if this
      // process is killed. The body continues to arrive during the commit.
      if isUnlisted { self.commit() }
    }
  }

  private func fail(_ error: any Error) {
    state.withLock {
      $0.isPreparing = false
      if $0.report.failure == nil { $0.report.failure = error }
    }
  }

  func resume() { resume(byTimer: false) }

  /// Resumes the paused response body. The body stays paused if the partial file is not prepared yet, if too many bytes
  /// are not committed, or if a rate limit requires it.
  private func resume(byTimer: Bool) {
    let flow = state.withLock { state -> BodyFlow? in
      guard state.isPaused else { return nil }
      if state.report.failure == nil {
        if state.isPreparing || state.commits.mustWait { return nil }
        if !byTimer, state.throttle.isHolding(at: run.timers.now) { return nil }
      }
      state.isPaused = false
      return state.flow
    }
    flow?.resume()
  }
}
