import ErrandCore
import ErrandSupport
import Foundation

/// Writes the body of one response into the partial file, if the response headers fit the requested range.
///
/// Pieces are gathered and written on the transport's thread. The disk queue commits them at the same time. The body
/// pauses if the commits are too far behind.
final class DownloadSink: BodySink, Committing {
  /// The outcome of the exchange.
  struct Report: Sendable {
    /// The decision on the headers; nil if there were no headers with an accepted status.
    var decision: ResumeDecision?
    /// The length of the received body in bytes.
    var received: Int64 = 0
    /// Whether the body arrived completely.
    var isWhole = false
    /// Why the partial file accepts no more bytes; nil while it accepts them.
    var failure: (any Error)?

    /// Whether the response is the whole file from its first byte.
    var isFresh: Bool { if case .fresh = decision { true } else { false } }
  }

  struct State: CommittingState {
    var report = Report()
    /// The offset of the first byte of the body.
    var place: Int64 = 0
    /// The length of the body in bytes; nil if it is not known.
    var expected: Int64?
    var flow: BodyFlow?
    /// Whether the partial file is being emptied, or space is being reserved.
    var isPreparing = false
    var isPaused = false
    var commits = CommitPace(CommitRule(total: nil))
    var timer: TimerToken?
    var throttle: DownloadThrottle

    var failure: (any Error)? {
      get { report.failure }
      set { report.failure = newValue }
    }
  }

  let run: DownloadRun
  private let ask: RangeAsk
  private let writer: PieceWriter
  private let state: Locked<State>

  init(_ run: DownloadRun, _ ask: RangeAsk) {
    self.run = run
    self.ask = ask
    writer = PieceWriter(run.part)
    state = Locked(State(throttle: DownloadThrottle(run.download, at: run.timers.now)))
  }

  /// The outcome; complete after ``Committing/finish()``.
  var report: Report { state.withLock { $0.report } }

  // MARK: - On the transport's thread

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    let decision = run.decide(head, to: ask)
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
    case .fresh(let facts):
      run.meter?.begin(behind: 0, total: facts.total)
      state.withLock { $0.expected = facts.total }
      prepare(facts, head)
    case .begin(let range, let facts):
      run.meter?.begin(behind: 0, total: facts.total)
      state.withLock { $0.expected = range.upperBound - range.lowerBound }
      prepare(facts, head)
    case .mismatch(let mismatch): throw mismatch
    case .alreadyWhole, .startOver, .failKeepingPart, .failDroppingPart: return .memory(limit: 1 << 20)
    }
    return .sink
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    let count = Int64(piece.count)
    try noted {
      try check(count)
      try writer.take(piece)
    }
    return goesOn(after: count)
  }

  func end() throws {
    try state.withLock { state in
      if let failure = state.report.failure { throw failure }
      state.report.isWhole = true
    }
  }

  // MARK: - Writing

  func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }

  func writeGathered() throws -> Int64 { try writer.write() }

  /// Throws if the partial file accepts no more bytes, or if these bytes exceed the announced length or the size limit.
  private func check(_ count: Int64) throws {
    let (failure, place, received, expected) = state.withLock {
      ($0.failure, $0.place, $0.report.received, $0.expected)
    }
    if let failure { throw failure }
    if let expected, received + count > expected { throw ResumeMismatch.excess(expected: expected) }
    try run.checkSize(place + received + count)
  }

  /// Runs a step. If the step throws, its error becomes the reason why the partial file accepts no more bytes.
  private func noted(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      state.withLock { $0.report.failure = error }
      throw error
    }
  }

  /// Counts received bytes. Returns false if the body has to pause.
  private func goesOn(after count: Int64) -> Bool {
    let now = run.timers.now
    let (step, delay, goesOn) = state.withLock { state -> (CommitPace.Step, Duration?, Bool) in
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
    return goesOn
  }

  // MARK: - On the disk queue

  /// Prepares for a new version: empties the partial file before the first byte is written.
  private func prepare(_ facts: AnswerFacts, _ head: ResponseHead) {
    let record = run.begin(facts)
    run.noteWhole(by: head)
    prepare(facts.total) { try self.run.empty(record) }
  }

  /// Reserves space before the first byte is written.
  private func prepare(_ total: Int64?, _ begin: @escaping @Sendable () throws -> Void = {}) {
    state.withLock {
      $0.commits.rule = CommitRule(total: total)
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
      // This commit writes the first record, so that a later run finds the download even if this process is killed. The
      // body is received at the same time.
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

  /// Resumes the body, unless something else still pauses it.
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
