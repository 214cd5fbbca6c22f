import ErrandCore
import ErrandSupport
import Foundation

/// Writes the body of one answer into the part, once the head says that it belongs there.
///
/// Pieces are gathered and written on the transport's thread. The disk lane commits them at the same time. The body
/// pauses if the commits are too far behind.
final class DownloadSink: BodySink, Committing {
  /// How the exchange went.
  struct Report: Sendable {
    /// The decision on the head; nil if there was no head with an accepted status.
    var decision: ResumeDecision?
    /// The length of the received body in bytes.
    var received: Int64 = 0
    /// Whether the body ended as it should.
    var isWhole = false
    /// Why the part takes nothing more.
    var failure: (any Error)?

    /// Whether the answer is the whole from its first byte on.
    var isFresh: Bool { if case .fresh = decision { true } else { false } }
  }

  struct State: CommittingState {
    var report = Report()
    /// The offset of the first byte of the body.
    var place: Int64 = 0
    /// The length of the body in bytes; nil if it is not known.
    var expected: Int64?
    var flow: BodyFlow?
    /// Whether the part is being emptied, or room is being set aside.
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

  /// How it went, behind ``Committing/finish()``.
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

  /// Throws if the part takes no further bytes.
  private func check(_ count: Int64) throws {
    let (failure, place, received, expected) = state.withLock {
      ($0.failure, $0.place, $0.report.received, $0.expected)
    }
    if let failure { throw failure }
    if let expected, received + count > expected { throw ResumeMismatch.excess(expected: expected) }
    try run.checkSize(place + received + count)
  }

  /// Notes why the part takes nothing more, where something throws.
  private func noted(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      state.withLock { $0.report.failure = error }
      throw error
    }
  }

  /// Counts received bytes. False if the body has to pause.
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

  // MARK: - On the disk lane

  /// Another version is about to be written: the part is emptied before a byte of it is taken.
  private func prepare(_ facts: AnswerFacts, _ head: ResponseHead) {
    let record = run.begin(facts)
    run.noteWhole(by: head)
    prepare(facts.total) { try self.run.empty(record) }
  }

  /// Room is set aside before a byte is taken.
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
      // The body is received at the same time. A process that is killed after this commit is found again.
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

  /// Lets the body go on, unless something else still holds it.
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
