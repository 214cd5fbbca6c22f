import ErrandCore
import ErrandSupport

/// Fetches pieces of one file, some at a time: each an exchange of the line with a life of its own, so that one can end
/// all others.
///
/// A piece that breaks off after some bytes is taken up again as long as the download allows it. Where nothing came at
/// all, one fewer goes on side by side: a server may not like so many.
final class SegmentFetch: Sendable {
  /// Why pieces are not fetched.
  enum Verdict: Sendable {
    /// The server has another version, or lies, or no longer gives pieces: what is there is of no use.
    case startOver(ResumeMismatch)
    /// A status that brings no file.
    case refused(HTTPResponse, RangeAsk)
    /// The line failed.
    case broken(any Error)

    /// Why what is missing is asked for again; nil for what no other try mends.
    var reason: RetryReason? {
      switch self {
      case .refused(let response, _): .status(response.status)
      case .broken(let error): TransportFailure.behind(error).map { .failure($0.kind) }
      case .startOver: nil
      }
    }
  }

  /// How it went.
  struct Report: Sendable {
    /// Why all were stopped; nil where they were not.
    var verdict: Verdict?
    /// Why one gave up last; nil where an answer brought nothing.
    var hindrance: Verdict?
    /// When the server wants to be asked again, where it said so.
    var notBefore: MonotonicInstant?
    /// The last answer whose body came as it should.
    var response: HTTPResponse?
    /// The bytes of all.
    var received: Int64 = 0
    /// Why the part takes nothing more.
    var failure: (any Error)?
  }

  private struct State: Sendable {
    var report = Report()
    var waiting: [Range<Int64>]
    var lives: [Int: CallState] = [:]
    /// How many lives began.
    var begun = 0
    /// How many pieces were taken.
    var count = 0
  }

  private let run: DownloadRun
  private let request: HTTPRequest
  private let segments: SegmentList
  private let pace: SegmentPace
  private let state: Locked<State>

  /// - Parameter there: The bytes that were there before.
  init(_ run: DownloadRun, _ request: HTTPRequest, _ segments: SegmentList, there: Int64) {
    self.run = run
    self.request = request
    self.segments = segments
    pace = SegmentPace(run, there: there, of: segments.total)
    state = Locked(State(waiting: segments.pieces))
  }

  /// How it went, once it is over.
  var report: Report {
    var report = state.withLock { $0.report }
    report.failure = pace.failure
    return report
  }

  /// Fetches all, or as much as can be had.
  func carryOut(_ next: Next) async {
    await withTaskGroup { group in
      for _ in 0..<min(max(run.download.parallel, 1), segments.pieces.count) {
        group.addTask { await self.work(next) }
      }
    }
    try? await run.disk.value { self.pace.finish() }
    pace.tell()
  }

  // MARK: - One of those side by side

  private func work(_ next: Next) async {
    while await mayTake(), let (piece, number) = take() {
      let sink = SegmentSink(run, pace, .segment(piece, segments.validator), number)
      let result = await exchange(sink, next)
      try? await run.disk.value { sink.finish() }
      let report = sink.report
      state.withLock { $0.report.received += report.received }
      if case .success(let response) = result, report.isWhole { await check(response, report.received, of: piece) }
      guard goesOn(after: result, report, piece) else { return }
    }
  }

  private func check(_ response: HTTPResponse, _ count: Int64, of piece: Range<Int64>) async {
    do {
      let range = piece.lowerBound..<piece.lowerBound + count
      try await run.disk.value { try self.run.checkContent(of: response, in: range) }
    } catch {
      pace.fail(error)
      _ = stop(.broken(error))
    }
  }

  /// Waits until the server wants to be asked again; false where that is too long.
  private func mayTake() async -> Bool {
    let moment = state.withLock { $0.waiting.isEmpty ? nil : $0.report.notBefore }
    guard let moment else { return true }
    guard run.isWorthWaiting(until: moment) else { return false }
    return (try? await living { child in try await child.sleep(until: moment) }) != nil
  }

  private func take() -> (piece: Range<Int64>, number: Int)? {
    state.withLock { state in
      guard state.report.verdict == nil, !state.waiting.isEmpty else { return nil }
      state.count += 1
      return (state.waiting.removeFirst(), state.count)
    }
  }

  private func exchange(_ sink: SegmentSink, _ next: Next) async -> Result<HTTPResponse, any Error> {
    var request = request
    sink.ask.apply(to: &request.fields)
    do {
      return .success(
        try await living { [request] child in
          try await next(request, in: self.run.context.with(child).with(sink: sink, onProgress: nil))
        })
    } catch {
      return .failure(error)
    }
  }

  /// Does something in a life of its own, which ends with the call and with the first verdict.
  private func living<Value: Sendable>(_ work: (CallState) async throws -> Value) async throws -> Value {
    let parent = run.context.call
    let child = CallState(following: parent, deadline: parent.deadline)
    defer { child.settle() }
    let number = try begin(child)
    defer { state.withLock { $0.lives[number] = nil } }
    return try await parent.whileAsking({ child.stop($0) }) { try await work(child) }
  }

  private func begin(_ child: CallState) throws(CallState.Stopped) -> Int {
    try state.withLock { state throws(CallState.Stopped) in
      guard state.report.verdict == nil else { throw CallState.Stopped(reason: .cancelled) }
      state.begun += 1
      state.lives[state.begun] = child
      return state.begun
    }
  }

  // MARK: - After an exchange

  /// Whether the next piece may be taken.
  private func goesOn(
    after result: Result<HTTPResponse, any Error>, _ report: SegmentSink.Report, _ piece: Range<Int64>
  ) -> Bool {
    if state.withLock({ $0.report.verdict != nil }) { return false }
    if let mismatch = report.mismatch { return stop(.startOver(mismatch)) }
    switch result {
    case .success(let response) where report.isWhole: return came(response, report, piece)
    case .success(let response): return refused(response, report, piece)
    case .failure(let error): return broken(error, report, piece)
    }
  }

  /// A body came as it should. A server may send less than was asked for.
  private func came(_ response: HTTPResponse, _ report: SegmentSink.Report, _ piece: Range<Int64>) -> Bool {
    let isFirst = state.withLock { state in
      defer { state.report.response = response }
      return state.report.response == nil
    }
    if isFirst { run.noteWhole(by: response.head) }
    let rest = Self.rest(of: piece, behind: report.received)
    if rest.isEmpty { return true }
    if report.received == 0 { return giveUp(rest, nil) }
    giveBack(rest)
    return true
  }

  private func refused(_ response: HTTPResponse, _ report: SegmentSink.Report, _ piece: Range<Int64>) -> Bool {
    let verdict = Verdict.refused(response, .segment(piece, segments.validator))
    // Said of the moment, and perhaps of the number: those that run may go on.
    let isPassing = response.status == 408 || response.status == 429 || response.status >= 500
    guard isPassing else { return stop(verdict) }
    if let delay = RetryAfter.delay(in: response.fields) {
      let moment = run.context.call.timers.now.advanced(by: delay)
      state.withLock { $0.report.notBefore = max($0.report.notBefore ?? moment, moment) }
    }
    return giveUp(piece, verdict)
  }

  private func broken(_ error: any Error, _ report: SegmentSink.Report, _ piece: Range<Int64>) -> Bool {
    let rest = Self.rest(of: piece, behind: report.received)
    guard pace.failure == nil, run.context.call.isRunning, TransportFailure.behind(error) != nil else {
      return stop(.broken(error))
    }
    guard report.received > 0, let kind = DownloadRun.breakKind(of: error) else { return giveUp(rest, .broken(error)) }
    guard run.useTakeUp(.failure(kind), of: request.url) else { return stop(.broken(error)) }
    giveBack(rest)
    return true
  }

  private static func rest(of piece: Range<Int64>, behind count: Int64) -> Range<Int64> {
    min(piece.lowerBound + count, piece.upperBound)..<piece.upperBound
  }

  private func giveBack(_ piece: Range<Int64>) {
    if !piece.isEmpty { state.withLock { $0.waiting.insert(piece, at: 0) } }
  }

  /// One fewer goes on.
  private func giveUp(_ piece: Range<Int64>, _ hindrance: Verdict?) -> Bool {
    giveBack(piece)
    state.withLock { $0.report.hindrance = hindrance }
    return false
  }

  /// Stops all others. The first reason counts.
  private func stop(_ verdict: Verdict) -> Bool {
    let lives = state.withLock { state in
      if state.report.verdict == nil { state.report.verdict = verdict }
      return Array(state.lives.values)
    }
    for life in lives { life.stop(.cancelled) }
    return false
  }
}
