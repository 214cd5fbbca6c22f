import ErrandCore
import ErrandSupport

/// Fetches the file in parallel ranges, if the caller wants this and the server supports it.
extension DownloadRun {
  /// Whether this call has discarded the partial file and started again. After that, the call requests no ranges in
  /// parallel.
  var hasStartedOver: Bool { state.withLock { $0.used.contains(.startOver) } }

  /// Whether to request only the first range, to learn whether the server supports further ranges. True at most once in
  /// a call.
  func asksForFirst(_ request: HTTPRequest) -> Bool {
    guard download.parallel > 1, download.resumes, request.method == .get else { return false }
    return !hasStartedOver && mayUse(.firstBytes)
  }

  /// Counts one resumption after an interrupted response body. Returns false if another resumption is not allowed:
  /// `takeUps` resumptions were already used, the method may not be repeated, or the retry budget of the host is used
  /// up.
  func useResumption(_ reason: RetryReason, of url: HTTPURL) -> Bool {
    guard context.plan.sending.idempotency.allows(request.method) else { return false }
    let isLeft = state.withLock { state in
      guard state.resumptionsLeft > 0 else { return false }
      state.resumptionsLeft -= 1
      return true
    }
    guard isLeft, let cost = retrying.payForResume(reason, at: url.origin) else { return false }
    state.withLock { $0.paid = (cost, url.origin) }
    context.record.retried(RetryMetrics(reason: reason, delay: .zero))
    return true
  }

  /// Whether the call may wait until the time that a server has set with `Retry-After`. The wait must end before the
  /// deadline and must not be longer than the call's `longestRetryAfter`.
  func isWorthWaiting(until moment: MonotonicInstant) -> Bool {
    let call = context.call
    if let deadline = call.deadline, moment >= deadline { return false }
    return call.timers.now.duration(to: moment) <= context.plan.sending.retries.longestRetryAfter
  }

  private func waits(until moment: MonotonicInstant?) async throws -> Bool {
    guard let moment, moment > context.call.timers.now else { return true }
    guard isWorthWaiting(until: moment) else { return false }
    try await context.call.sleep(until: moment)
    return true
  }

  /// The ranges to fetch in parallel; nil if one request for all missing bytes is enough. Ranges are always needed if
  /// the partial file has gaps. They are also needed if this call has already written ranges into the partial file,
  /// because the body of a single request is only appended to bytes that were written sequentially.
  func segments(_ question: ResumeQuestion) -> SegmentList? {
    guard question.obstacle == nil, !hasStartedOver, let metadata, SegmentPlan.isSafe(metadata),
      let validator = metadata.validator, let total = metadata.total
    else { return nil }
    let finished = metadata.finished
    guard download.parallel > 1 || !finished.isPrefix || part.position != finished.end else { return nil }
    let pieces = SegmentPlan.pieces(missingFrom: finished, total: total, count: download.parallel)
    return pieces.isEmpty ? nil : SegmentList(pieces: pieces, validator: validator, total: total)
  }

  /// Fetches the ranges in parallel, and decides how the download continues.
  func sideBySide(_ segments: SegmentList, _ request: HTTPRequest, _ next: Next) async throws -> Step {
    try await disk.value { try self.reserve(segments.total) }
    let there = part.written.count
    meter?.begin(behind: there, total: segments.total)
    let fetch = SegmentFetch(self, request, segments, there: there)
    await fetch.carryOut(next)
    let report = fetch.report
    state.withLock { $0.fetched += report.received }
    if let failure = report.failure {
      // Keep the received bytes only if a file operation failed. After a wrong checksum, the whole partial file is
      // removed.
      if failure is FileFailure { return try await stopped(by: failure) }
      throw failure
    }
    if case .startOver(let mismatch) = report.stopReason { return try await startOver(because: mismatch) }
    try await disk.value { try self.keep() }
    return try await continueDownload(after: report, of: segments, request.url)
  }

  /// Decides how the download continues after the parallel requests, if no response belongs to another version of the
  /// file. Bytes of the file may still be missing.
  private func continueDownload(
    after report: SegmentFetch.Report, of segments: SegmentList, _ url: HTTPURL
  ) async throws -> Step {
    if let response = report.response, part.written.missing(of: segments.total).isEmpty {
      return .done(try await finished(response))
    }
    try context.call.check()
    switch report.stopReason {
    case .refused(let response, let requested): return try await refused(response, requested, url)
    case .broken(let error): throw error
    case .startOver, nil: break
    }
    // All worker tasks have given up. If they received any bytes, another attempt may help, so the missing bytes are
    // requested again.
    if report.received > 0, try await waits(until: report.notBefore),
      useResumption(report.lastGiveUpReason?.retryReason ?? .failure(.truncated), of: url)
    {
      return .again
    }
    switch report.lastGiveUpReason {
    case .refused(let response, let requested): return try await refused(response, requested, url)
    case .broken(let error): throw error
    case .startOver, nil: throw TransportFailure(.truncated, "The responses to the requested ranges were empty.")
    }
  }
}
