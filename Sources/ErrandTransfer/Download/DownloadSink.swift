import ErrandCore
import ErrandSupport
import Foundation

/// Writes the body of one answer into the part, once the head says that it belongs there.
///
/// Pieces are written on the transport's thread. The disk lane brings them to the disk meanwhile, and the body pauses
/// where that falls too far behind.
final class DownloadSink: BodySink {
  /// How the exchange went.
  struct Report: Sendable {
    /// What was decided on the head; nil where no head came that the status rule takes.
    var decision: ResumeDecision?
    /// What the body came to, in bytes.
    var received: Int64 = 0
    /// Whether the body ended as it should.
    var isWhole = false
    /// Why the part takes nothing more.
    var failure: (any Error)?

    /// Whether the answer is the whole from its first byte on.
    var isFresh: Bool { if case .fresh = decision { true } else { false } }
  }

  private struct State: CommittingState {
    var report = Report()
    var expected: Int64?
    var flow: BodyFlow?
    /// Pieces that came while the part was being emptied.
    var held = Data()
    var isPreparing = false
    var isPaused = false
    var commits: CommitPace
    var throttle: DownloadThrottle

    var failure: (any Error)? {
      get { report.failure }
      set { report.failure = newValue }
    }
  }

  private let run: DownloadRun
  private let ask: RangeAsk
  private let state: Locked<State>

  init(_ run: DownloadRun, _ ask: RangeAsk) {
    self.run = run
    self.ask = ask
    let now = run.timers.now
    state = Locked(
      State(
        commits: CommitPace(CommitRule(total: nil), at: now),
        throttle: DownloadThrottle(run.download, at: now)))
  }

  /// How it went; once the exchange is over and the disk lane has done what it was given.
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
      state.withLock { $0.expected = range.upperBound - range.lowerBound }
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
    let mayWrite = try state.withLock { state in
      if let failure = state.report.failure { throw failure }
      guard state.isPreparing else { return true }
      state.held.append(contentsOf: piece)
      state.isPaused = true
      return false
    }
    return mayWrite ? try append(piece) : false
  }

  func end() throws {
    try state.withLock { state in
      if let failure = state.report.failure { throw failure }
      state.report.isWhole = true
    }
  }

  // MARK: - Writing

  private func append(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    try noted {
      let (expected, received) = state.withLock { ($0.expected, $0.report.received) }
      if let expected, received + Int64(piece.count) > expected { throw ResumeMismatch.excess(expected: expected) }
      try run.checkSize(run.part.written.end + Int64(piece.count))
      try run.part.append(piece)
    }
    return goesOn(after: Int64(piece.count))
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

  /// Counts what was written; begins a commit where one is due. False where the body has to wait.
  private func goesOn(after count: Int64) -> Bool {
    let now = run.timers.now
    let (commits, delay, goesOn) = state.withLock { state -> (Bool, Duration?, Bool) in
      state.report.received += count
      let commits = state.commits.took(count, at: now)
      let delay = state.throttle.take(count, at: now)
      if state.commits.mustWait || delay != nil { state.isPaused = true }
      return (commits, delay, !state.isPaused)
    }
    if commits { run.disk.run { self.commit() } }
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
    run.disk.run {
      var isUnlisted = false
      do {
        try self.run.checkName()
        try begin()
        try self.run.reserve(total)
        isUnlisted = self.run.isUnlisted(total)
        if isUnlisted { self.state.withLock { $0.commits.begin() } }
        try self.takeHeld()
      } catch {
        self.fail(error)
        isUnlisted = false
      }
      self.resume()
      // Beside the body: whoever is killed from here on is found again.
      if isUnlisted { self.commit() }
    }
  }

  /// Writes what came meanwhile. A piece may come while one is written: it is held until none is left.
  private func takeHeld() throws {
    while true {
      let held = state.withLock { state -> Data? in
        if state.held.isEmpty { state.isPreparing = false }
        defer { state.held = Data() }
        return state.held.isEmpty ? nil : state.held
      }
      guard let held else { return }
      _ = try held.withUnsafeBytes { try append($0) }
    }
  }

  private func commit() {
    run.commit(state)
    resume()
  }

  private func fail(_ error: any Error) {
    state.withLock {
      $0.isPreparing = false
      if $0.report.failure == nil { $0.report.failure = error }
    }
  }

  /// Lets the body go on, unless something else still holds it.
  private func resume(byTimer: Bool = false) {
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
