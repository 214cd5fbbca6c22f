import ErrandCore
import ErrandSupport

/// Several ranges side by side, where the caller wants them and the server can.
extension DownloadRun {
  /// Whether the part was dropped once in this call: what follows is one stream.
  private var hasStartedOver: Bool { state.withLock { $0.hasStartedOver } }

  /// Whether only the first piece is asked for, to see whether others can be fetched beside it. Once in a call.
  func asksForFirst(_ request: HTTPRequest) -> Bool {
    guard download.parallel > 1, download.resumes, request.method == .get else { return false }
    return state.withLock { state in
      if state.hasStartedOver || state.hasAskedForFirst { return false }
      state.hasAskedForFirst = true
      return true
    }
  }

  /// Takes one of the times that a broken body may be taken up again; false where none is left, or where the method or
  /// the budget of the host forbids it.
  func useTakeUp(_ reason: RetryReason, of url: HTTPURL) -> Bool {
    guard context.plan.allowsRepeating(request.method) else { return false }
    let isLeft = state.withLock { state in
      guard state.takeUps > 0 else { return false }
      state.takeUps -= 1
      return true
    }
    guard isLeft, let cost = retrying.payForTakeUp(reason, at: url.origin) else { return false }
    state.withLock { $0.paid = (cost, url.origin) }
    context.record.retried(RetryMetrics(reason: reason, delay: .zero))
    return true
  }

  /// Whether a server that wants to be asked later is waited for: as long as a call waits for one, and no longer than
  /// there is time.
  func isWorthWaiting(until moment: MonotonicInstant) -> Bool {
    let call = context.call
    if let deadline = call.deadline, moment >= deadline { return false }
    return call.timers.now.duration(to: moment) <= context.plan.longestRetryAfter
  }

  private func waits(until moment: MonotonicInstant?) async throws -> Bool {
    guard let moment, moment > context.call.timers.now else { return true }
    guard isWorthWaiting(until: moment) else { return false }
    try await context.call.sleep(until: moment)
    return true
  }

  /// The pieces to fetch; nil where one stream does it. A part with gaps is always filled piece by piece, and so is one
  /// that pieces were written to before: a single stream goes on behind its own bytes only.
  func segments(_ question: ResumeQuestion) -> SegmentList? {
    guard question.obstacle == nil, !hasStartedOver, let record, SegmentPlan.isSafe(record),
      let validator = record.validator, let total = record.total
    else { return nil }
    let finished = record.finished
    guard download.parallel > 1 || !finished.isPrefix || part.position != finished.end else { return nil }
    let pieces = SegmentPlan.pieces(missingFrom: finished, total: total, count: download.parallel)
    return pieces.isEmpty ? nil : SegmentList(pieces: pieces, validator: validator, total: total)
  }

  /// Fetches the pieces, and judges how that went.
  func sideBySide(_ segments: SegmentList, _ request: HTTPRequest, _ next: Next) async throws -> Step {
    try await disk.value { try self.reserve(segments.total) }
    let there = part.written.count
    meter?.beginSideBySide(behind: there, total: segments.total)
    let fetch = SegmentFetch(self, request, segments, there: there)
    await fetch.carryOut(next)
    let report = fetch.report
    state.withLock { $0.fetched += report.received }
    if let failure = report.failure {
      // After a wrong checksum the part goes as a whole.
      if failure is FileFailure { return try await stopped(by: failure) }
      throw failure
    }
    if case .startOver(let mismatch) = report.verdict { return try await startOver(because: mismatch) }
    try await disk.value { try self.keep() }
    return try await goOn(after: report, of: segments, request.url)
  }

  /// Nothing speaks against what came; there may be more to fetch.
  private func goOn(
    after report: SegmentFetch.Report, of segments: SegmentList, _ url: HTTPURL
  ) async throws -> Step {
    if let response = report.response, part.written.missing(of: segments.total).isEmpty {
      return .done(try await finished(response))
    }
    try context.call.check()
    switch report.verdict {
    case .refused(let response, let ask): return try await refused(response, ask, url)
    case .broken(let error): throw error
    case .startOver, nil: break
    }
    // All gave up, one after the other, some with bytes and some without.
    if report.received > 0, try await waits(until: report.notBefore),
      useTakeUp(report.hindrance?.reason ?? .failure(.truncated), of: url)
    {
      return .again
    }
    switch report.hindrance {
    case .refused(let response, let ask): return try await refused(response, ask, url)
    case .broken(let error): throw error
    case .startOver, nil: throw TransportFailure(.truncated, "The answers to the ranges that are missing had no bytes.")
    }
  }
}
