import ErrandCore
import ErrandSupport

/// Decides what follows an HTTP exchange of a download: another exchange, the finished file, or an error.
extension DownloadRun {
  /// Called when a response body arrived completely. Bytes of the file may still be missing, because a server may send
  /// less than was requested.
  func ended(_ response: HTTPResponse, _ report: DownloadSink.Report, _ url: HTTPURL) async throws -> Step {
    let written = part.written.end
    if let total = metadata?.total, written < total, report.received == 0 || report.isFresh {
      let sentence = "The body ended after \(written) of the announced \(total) bytes."
      return try await broken(TransportFailure(.truncated, sentence), report, url)
    }
    try await checkContent(of: response, report)
    noteDigest(in: response.trailers, of: response.head)
    if let total = metadata?.total, written < total {
      try await disk.value { try self.commit() }
      return .again
    }
    return .done(try await finished(response))
  }

  /// Checks the `Content-Digest` of a response. If the body is the whole file, the digest is stored and compared at the
  /// end of the download. Otherwise the digest is compared at once with the digest of the received bytes.
  private func checkContent(of response: HTTPResponse, _ report: DownloadSink.Report) async throws {
    switch report.decision {
    case .append(let range, _), .begin(let range, _):
      let arrived = range.lowerBound..<min(range.lowerBound + report.received, range.upperBound)
      try await disk.value { try self.checkContent(of: response, in: arrived) }
    case .fresh where ResponseProperties.coding(of: response.fields) == nil:
      let stated = contentDigest(of: response)
      if let stated { state.withLock { $0.stated.append(stated) } }
    default: break
    }
  }

  /// Called when the response contains no bytes of the file, for example because its status is 404 or 416.
  func refused(
    _ response: HTTPResponse, _ requested: RequestedRange, _ url: HTTPURL
  ) async throws -> Step {
    let decision = decide(response.head, to: requested)
    switch decision {
    case .alreadyWhole: return .done(try await finished(response))
    case .startOver: return mayUse(.startOver) ? try await dropPart(because: "status 416") : .done(response)
    default: break
    }
    if asksFirstURLAgain(after: response, to: url) { return .again }
    if let url = try await freshURL(after: response) { return .elsewhere(url) }
    // If this call has no metadata record, the partial file belongs to another request and is kept.
    if decision == .failDroppingPart, metadata != nil { try? await disk.value { try self.part.abandon() } }
    return .done(response)
  }

  /// Called when a response body was interrupted, or when no byte of it arrived. Keeps the received bytes. If there are
  /// received bytes and another attempt may help, the missing bytes are requested.
  func broken(
    _ error: any Error, _ report: DownloadSink.Report, _ url: HTTPURL
  ) async throws -> Step {
    if case .mismatch(let mismatch) = report.decision { return try await startOver(because: mismatch) }
    if let failure = report.failure { return try await stopped(by: failure) }
    try await disk.value { try self.keep() }
    try context.call.check()
    guard report.received > 0, let kind = Self.breakKind(of: error) else { throw error }
    guard metadata?.isResumable == true else { throw unresumable(error) }
    guard useResumption(.failure(kind), of: url) else { throw error }
    context.plan.log?.info("resuming the download after \(part.written.end) bytes because of an error: \(error)")
    return .again
  }

  /// The failure of an interrupted body, which also says why the download cannot be resumed.
  private func unresumable(_ error: any Error) -> any Error {
    let question = ResumeQuestion(metadata, request: identity, checksum: download.checksum?.recorded)
    guard let failure = error as? TransportFailure, let obstacle = question.obstacle else { return error }
    let sentence = failure.description + (failure.description.hasSuffix(".") ? "" : ".")
    var explained = TransportFailure(
      failure.kind,
      "\(sentence) The download cannot be resumed, because \(obstacle.clause); the received bytes were discarded.",
      isCertainlyNotSent: failure.isCertainlyNotSent)
    explained.metrics = failure.metrics
    return explained
  }

  /// Ends the call after a failure, because the partial file accepts no more bytes.
  func stopped(by failure: any Error) async throws -> Step {
    try? await disk.value { try self.stop(after: failure) }
    throw failure
  }

  /// The kind of a transport failure that another attempt may overcome; nil if the error is not such a failure.
  static func breakKind(of error: any Error) -> TransportFailure.Kind? {
    guard let kind = TransportFailure.behind(error)?.kind else { return nil }
    return [.truncated, .reset, .idleTimeout, .closedBeforeResponse, .http2].contains(kind) ? kind : nil
  }

  /// Discards the partial file and requests the whole file. Throws `mismatch` instead if this call has already started
  /// over once, or if starting over cannot help.
  func startOver(because mismatch: ResumeMismatch) async throws -> Step {
    guard mismatch != .notAsked, mayUse(.startOver) else { throw mismatch }
    return try await dropPart(because: String(describing: mismatch))
  }

  private func dropPart(because reason: String) async throws -> Step {
    context.note(.download(.startedOver(reason: reason)))
    context.plan.log?.info("restarting the download from the beginning: \(reason)")
    try await disk.value {
      try self.part.startOver(self.emptyMetadata(ResponseProperties(validator: nil, total: nil, coding: nil)))
      try self.digests.startOver()
    }
    state.withLock { $0.metadata = nil }
    return .again
  }

  /// Whether to request the first URL again, because the target of its redirect has expired (status 403). True at most
  /// once until further bytes arrive, and only if the method may be repeated.
  private func asksFirstURLAgain(after response: HTTPResponse, to url: HTTPURL) -> Bool {
    response.status == 403 && response.url != url && context.plan.sending.idempotency.allows(request.method)
      && mayUse(.firstURLAgain)
  }

  /// Asks the caller's `freshURL` for another URL of the file. Returns nil if `freshURL` is nil, if it was already
  /// called and no bytes have arrived since, or if the status of the response is not 401, 403, 404 or 410.
  private func freshURL(after response: HTTPResponse) async throws -> HTTPURL? {
    guard let ask = download.freshURL, [401, 403, 404, 410].contains(response.status),
      mayUse(.freshURL)
    else { return nil }
    do {
      return try HTTPURL(try await context.running(Download.self) { try await ask(response) })
    } catch let error as APIError {
      throw error
    } catch {
      try context.call.check()
      let clause = "`freshURL` provided no URL for the download: \(AppErrorText.of(error))"
      throw APIError(.transfer, .invalidURL, APIError.sentence(clause), cause: error)
    }
  }
}
