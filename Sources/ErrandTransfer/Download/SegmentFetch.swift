import ErrandCore
import ErrandSupport

/// Fetches ranges of one file with several parallel worker tasks. Each range is a separate HTTP exchange with its own
/// `CallState`. So one worker task can stop the exchanges of all other worker tasks without stopping the call.
///
/// If a range is interrupted after some bytes, it is resumed as often as the download allows. If no byte of a range
/// arrived, its worker task ends and leaves the range to the other worker tasks, because the server may not accept so
/// many requests in parallel.
final class SegmentFetch: Sendable {
  /// The reason why one worker task, or all of them, stopped fetching ranges.
  enum StopReason: Sendable {
    /// The server has another version of the file, contradicts an earlier response, or no longer serves ranges. The
    /// partial file is useless.
    case startOver(ResumeMismatch)
    /// The server sent a response without bytes of the file, for example with status 404 or 503.
    case refused(HTTPResponse, RequestedRange)
    /// An error ended the fetching of a range, for example a failure of the transport or a wrong digest.
    case broken(any Error)

    /// The reason to request the missing bytes again; nil if another attempt cannot help.
    var retryReason: RetryReason? {
      switch self {
      case .refused(let response, _): .status(response.status)
      case .broken(let error): TransportFailure.behind(error).map { .failure($0.kind) }
      case .startOver: nil
      }
    }
  }

  /// The outcome of all parallel requests together.
  struct Report: Sendable {
    /// The reason why all worker tasks were stopped; nil if they were not stopped.
    var stopReason: StopReason?
    /// The reason why the last worker task that gave up did so. Nil if no worker task gave up, or if that worker task
    /// received an empty response.
    var lastGiveUpReason: StopReason?
    /// The time before which no further request may be sent, from the field `Retry-After`. Nil if no response had this
    /// field.
    var notBefore: MonotonicInstant?
    /// The last response whose body arrived completely.
    var response: HTTPResponse?
    /// The number of bytes that all worker tasks have received together.
    var received: Int64 = 0
    /// The error after which the partial file accepts no more bytes; nil if there is none.
    var failure: (any Error)?
  }

  private struct State: Sendable {
    var report = Report()
    var waiting: [Range<Int64>]
    var callStates: [Int: CallState] = [:]
    /// The number of `CallState` objects that were created. It is also the key of the newest object in `callStates`.
    var begun = 0
    /// The number of ranges that worker tasks have taken. It is also the number of the newest range.
    var count = 0
  }

  private let run: DownloadRun
  private let request: HTTPRequest
  private let segments: SegmentList
  private let progress: SegmentProgress
  private let state: Locked<State>

  /// Prepares the parallel requests. ``carryOut(_:)`` sends them.
  /// - Parameter there: The number of bytes that are already in the partial file.
  init(_ run: DownloadRun, _ request: HTTPRequest, _ segments: SegmentList, there: Int64) {
    self.run = run
    self.request = request
    self.segments = segments
    progress = SegmentProgress(run, there: there, of: segments.total)
    state = Locked(State(waiting: segments.pieces))
  }

  /// The outcome of all parallel requests together. It is complete when all worker tasks have ended.
  var report: Report {
    var report = state.withLock { $0.report }
    report.failure = progress.failure
    return report
  }

  /// Fetches all missing ranges of the file with parallel worker tasks. Returns when all worker tasks have ended; some
  /// ranges may still be missing.
  func carryOut(_ next: Next) async {
    await withTaskGroup { group in
      for _ in 0..<min(max(run.download.parallel, 1), segments.pieces.count) {
        group.addTask { await self.work(next) }
      }
    }
    try? await run.disk.value { self.progress.finish() }
    progress.report()
  }

  // MARK: - One worker

  private func work(_ next: Next) async {
    while await mayTake(), let (piece, number) = take() {
      let sink = SegmentSink(run, progress, .segment(piece, segments.validator), number)
      let result = await exchange(sink, next)
      try? await run.disk.value { sink.finish() }
      let report = sink.report
      state.withLock { $0.report.received += report.received }
      if report.received > 0 { run.noteProgress() }
      if case .success(let response) = result, report.isWhole { await check(response, report.received, of: piece) }
      guard handle(result, report, piece) else { return }
    }
  }

  private func check(_ response: HTTPResponse, _ count: Int64, of piece: Range<Int64>) async {
    do {
      let range = piece.lowerBound..<piece.lowerBound + count
      try await run.disk.value { try self.run.checkContent(of: response, in: range) }
    } catch {
      progress.fail(error)
      _ = stop(.broken(error))
    }
  }

  /// Waits before a worker task takes its next range, if the server has set a time with `Retry-After`. Returns false if
  /// the worker task must end, because the wait would be too long or was stopped.
  private func mayTake() async -> Bool {
    let moment = state.withLock { $0.waiting.isEmpty ? nil : $0.report.notBefore }
    guard let moment else { return true }
    guard run.isWorthWaiting(until: moment) else { return false }
    return (try? await withCallState { child in try await child.sleep(until: moment) }) != nil
  }

  private func take() -> (piece: Range<Int64>, number: Int)? {
    state.withLock { state in
      guard state.report.stopReason == nil, !state.waiting.isEmpty else { return nil }
      state.count += 1
      return (state.waiting.removeFirst(), state.count)
    }
  }

  private func exchange(_ sink: SegmentSink, _ next: Next) async -> Result<HTTPResponse, any Error> {
    var request = request
    sink.requested.apply(to: &request.fields)
    return await .catching { [request] in
      try await withCallState { child in
        let streaming = self.run.context.with {
          $0.call = child
          $0.sink = sink
          $0.onProgress = nil
        }
        return try await next(request, in: streaming)
      }
    }
  }

  /// Runs a closure with a new `CallState`. Two events stop the new `CallState`: the whole call is stopped, or
  /// ``stop(_:)`` stops all worker tasks.
  private func withCallState<Value: Sendable>(_ work: (CallState) async throws -> Value) async throws -> Value {
    let parent = run.context.call
    let child = CallState(following: parent, deadline: parent.deadline)
    defer { child.settle() }
    let number = try begin(child)
    defer { state.withLock { $0.callStates[number] = nil } }
    return try await parent.whileAsking({ child.stop($0) }) { try await work(child) }
  }

  private func begin(_ child: CallState) throws(CallState.Stopped) -> Int {
    try state.withLock { state throws(CallState.Stopped) in
      guard state.report.stopReason == nil else { throw CallState.Stopped(reason: .cancelled) }
      state.begun += 1
      state.callStates[state.begun] = child
      return state.begun
    }
  }

  // MARK: - After an exchange

  /// Handles the result of the HTTP exchange for one range. Returns whether the worker task may take the next range.
  private func handle(
    _ result: Result<HTTPResponse, any Error>, _ report: SegmentSink.Report, _ piece: Range<Int64>
  ) -> Bool {
    if state.withLock({ $0.report.stopReason != nil }) { return false }
    if let mismatch = report.mismatch { return stop(.startOver(mismatch)) }
    switch result {
    case .success(let response) where report.isWhole: return arrived(response, report, piece)
    case .success(let response): return refused(response, report, piece)
    case .failure(let error): return broken(error, report, piece)
    }
  }

  /// Called when the body of a range arrived completely. The body may be shorter than the range, because a server may
  /// send less than was requested.
  private func arrived(_ response: HTTPResponse, _ report: SegmentSink.Report, _ piece: Range<Int64>) -> Bool {
    let isFirst = state.withLock { state in
      defer { state.report.response = response }
      return state.report.response == nil
    }
    if isFirst {
      run.noteWhole(by: response.head)
      run.noteDigest(in: response.trailers, of: response.head)
    }
    let rest = Self.rest(of: piece, behind: report.received)
    if rest.isEmpty { return true }
    if report.received == 0 { return giveUp(rest, nil) }
    giveBack(rest)
    return true
  }

  private func refused(_ response: HTTPResponse, _ report: SegmentSink.Report, _ piece: Range<Int64>) -> Bool {
    let reason = StopReason.refused(response, .segment(piece, segments.validator))
    // These statuses are temporary, and may be caused by the number of parallel requests. So only this worker task
    // gives up, and the others continue.
    let isPassing = response.status == 408 || response.status == 429 || response.status >= 500
    guard isPassing else { return stop(reason) }
    if let delay = RetryAfter.delay(in: response.fields) {
      let moment = run.context.call.timers.now.advanced(by: delay)
      state.withLock { $0.report.notBefore = max($0.report.notBefore ?? moment, moment) }
    }
    return giveUp(piece, reason)
  }

  private func broken(_ error: any Error, _ report: SegmentSink.Report, _ piece: Range<Int64>) -> Bool {
    let rest = Self.rest(of: piece, behind: report.received)
    // A worker task that the client refuses gives up, too: the others have the slots, or test whether the server has
    // recovered.
    let isPassing = TransportFailure.behind(error) != nil || APIError.isRefusal(error)
    guard progress.failure == nil, run.context.call.isRunning, isPassing else { return stop(.broken(error)) }
    guard report.received > 0, let kind = DownloadRun.breakKind(of: error) else { return giveUp(rest, .broken(error)) }
    guard run.useResumption(.failure(kind), of: request.url) else { return stop(.broken(error)) }
    giveBack(rest)
    return true
  }

  private static func rest(of piece: Range<Int64>, behind count: Int64) -> Range<Int64> {
    min(piece.lowerBound + count, piece.upperBound)..<piece.upperBound
  }

  private func giveBack(_ piece: Range<Int64>) {
    if !piece.isEmpty { state.withLock { $0.waiting.insert(piece, at: 0) } }
  }

  /// Called when a worker task gives up. Leaves the range to the other worker tasks. Returns false, so that the worker
  /// task ends.
  private func giveUp(_ piece: Range<Int64>, _ reason: StopReason?) -> Bool {
    giveBack(piece)
    state.withLock { $0.report.lastGiveUpReason = reason }
    return false
  }

  /// Stops all worker tasks. If this method is called more than once, only the reason of the first call is kept.
  /// Returns false, so that the calling worker task ends.
  private func stop(_ reason: StopReason) -> Bool {
    let callStates = state.withLock { state in
      if state.report.stopReason == nil { state.report.stopReason = reason }
      return Array(state.callStates.values)
    }
    for callState in callStates { callState.stop(.cancelled) }
    return false
  }
}
