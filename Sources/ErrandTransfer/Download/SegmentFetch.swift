import ErrandCore
import ErrandSupport

/// Fetches ranges of one file, several in parallel. Each range is a separate exchange with its own `CallState`, so that
/// one of them can stop all others.
///
/// A range that breaks off after some bytes is resumed as often as the download allows. If no byte arrived, one worker
/// fewer continues, because the server may not accept so many requests in parallel.
final class SegmentFetch: Sendable {
  /// Why ranges can no longer be fetched.
  enum Verdict: Sendable {
    /// The server has another version, contradicts itself, or no longer serves ranges. The partial file is useless.
    case startOver(ResumeMismatch)
    /// The server sent a response without bytes of the file, for example with status 404 or 503.
    case refused(HTTPResponse, RangeAsk)
    /// The transport failed.
    case broken(any Error)

    /// The reason to request the missing bytes again; nil if another attempt cannot help.
    var reason: RetryReason? {
      switch self {
      case .refused(let response, _): .status(response.status)
      case .broken(let error): TransportFailure.behind(error).map { .failure($0.kind) }
      case .startOver: nil
      }
    }
  }

  /// The outcome of all ranges.
  struct Report: Sendable {
    /// Why all workers were stopped; nil if they were not.
    var verdict: Verdict?
    /// Why the last worker gave up; nil if its response was empty.
    var hindrance: Verdict?
    /// The earliest time of the next request, from `Retry-After`; nil if no response had this field.
    var notBefore: MonotonicInstant?
    /// The last response whose body arrived completely.
    var response: HTTPResponse?
    /// The total number of received bytes.
    var received: Int64 = 0
    /// Why the partial file accepts no more bytes.
    var failure: (any Error)?
  }

  private struct State: Sendable {
    var report = Report()
    var waiting: [Range<Int64>]
    var lives: [Int: CallState] = [:]
    /// The number of `CallState` values that were made. It is also the key of the newest one in `lives`.
    var begun = 0
    /// The number of ranges that were taken. It is also the number of the newest one.
    var count = 0
  }

  private let run: DownloadRun
  private let request: HTTPRequest
  private let segments: SegmentList
  private let pace: SegmentPace
  private let state: Locked<State>

  /// - Parameter there: The number of bytes that are already in the partial file.
  init(_ run: DownloadRun, _ request: HTTPRequest, _ segments: SegmentList, there: Int64) {
    self.run = run
    self.request = request
    self.segments = segments
    pace = SegmentPace(run, there: there, of: segments.total)
    state = Locked(State(waiting: segments.pieces))
  }

  /// The outcome, once all workers have ended.
  var report: Report {
    var report = state.withLock { $0.report }
    report.failure = pace.failure
    return report
  }

  /// Fetches all ranges, or as many as possible.
  func carryOut(_ next: Next) async {
    await withTaskGroup { group in
      for _ in 0..<min(max(run.download.parallel, 1), segments.pieces.count) {
        group.addTask { await self.work(next) }
      }
    }
    try? await run.disk.value { self.pace.finish() }
    pace.tell()
  }

  // MARK: - One worker

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

  /// Waits until the time that the server has set with `Retry-After`. Returns false if the wait would be too long.
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

  /// Performs work with its own `CallState`. That state stops with the call and with the first verdict.
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

  /// Whether the worker may take the next range.
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

  /// Called when the body of a range arrived completely. A server may send less than was requested.
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
    // These statuses are temporary, and may be caused by the number of requests. So the other workers continue.
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

  /// Ends this worker. Its range is left to the other workers.
  private func giveUp(_ piece: Range<Int64>, _ hindrance: Verdict?) -> Bool {
    giveBack(piece)
    state.withLock { $0.report.hindrance = hindrance }
    return false
  }

  /// Stops all workers. The first verdict counts.
  private func stop(_ verdict: Verdict) -> Bool {
    let lives = state.withLock { state in
      if state.report.verdict == nil { state.report.verdict = verdict }
      return Array(state.lives.values)
    }
    for life in lives { life.stop(.cancelled) }
    return false
  }
}
