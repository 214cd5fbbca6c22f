import ErrandCore
import ErrandSupport

/// Fetches the file in parallel ranges, if the caller wants this and the server supports it.
extension DownloadRun {
  /// Whether this call has discarded the partial file and started again. The call then uses a single stream.
  var hasStartedOver: Bool { state.withLock { $0.used.contains(.startOver) } }

  /// Whether to request only the first range, to learn whether the server supports further ones. True at most once in a
  /// call.
  func asksForFirst(_ request: HTTPRequest) -> Bool {
    guard download.parallel > 1, download.resumes, request.method == .get else { return false }
    return !hasStartedOver && takes(.firstBytes)
  }

  /// Uses one of the allowed resumptions of a broken body. False if none is left, or if the method or the host's retry
  /// budget does not allow another attempt.
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

  /// Whether to wait until this time, which a server has set with `Retry-After`. The wait must end before the deadline
  /// and must not be longer than the call's `longestRetryAfter`.
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

  /// The ranges to fetch; nil if one stream is enough. A partial file with gaps always needs ranges. A partial file
  /// also needs them if this call has already written ranges into it, because a single stream can only continue after
  /// its own bytes.
  func segments(_ question: ResumeQuestion) -> SegmentList? {
    guard question.obstacle == nil, !hasStartedOver, let record, SegmentPlan.isSafe(record),
      let validator = record.validator, let total = record.total
    else { return nil }
    let finished = record.finished
    guard download.parallel > 1 || !finished.isPrefix || part.position != finished.end else { return nil }
    let pieces = SegmentPlan.pieces(missingFrom: finished, total: total, count: download.parallel)
    return pieces.isEmpty ? nil : SegmentList(pieces: pieces, validator: validator, total: total)
  }

  /// Fetches the ranges, and decides what follows.
  func sideBySide(_ segments: SegmentList, _ request: HTTPRequest, _ next: Next) async throws -> Step {
    try await disk.value { try self.reserve(segments.total) }
    let there = part.written.count
    meter?.beginSideBySide(behind: there, total: segments.total)
    let fetch = SegmentFetch(self, request, segments, there: there)
    await fetch.carryOut(next)
    let report = fetch.report
    state.withLock { $0.fetched += report.received }
    if let failure = report.failure {
      // Bytes are kept only after a failed file operation. After a wrong checksum the whole partial file is removed.
      if failure is FileFailure { return try await stopped(by: failure) }
      throw failure
    }
    if case .startOver(let mismatch) = report.verdict { return try await startOver(because: mismatch) }
    try await disk.value { try self.keep() }
    return try await goOn(after: report, of: segments, request.url)
  }

  /// Decides what follows if no response contradicted the requests. Bytes of the file may still be missing.
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
    // All workers gave up one after the other. If any of them received bytes, the rest is requested again.
    if report.received > 0, try await waits(until: report.notBefore),
      useTakeUp(report.hindrance?.reason ?? .failure(.truncated), of: url)
    {
      return .again
    }
    switch report.hindrance {
    case .refused(let response, let ask): return try await refused(response, ask, url)
    case .broken(let error): throw error
    case .startOver, nil: throw TransportFailure(.truncated, "The responses to the requested ranges were empty.")
    }
  }
}
