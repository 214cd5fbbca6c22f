import ErrandCore
import ErrandSupport

/// What follows from an exchange: another one, the file, or an error.
extension DownloadRun {
  /// A body came as it should. There may be more: a server may send less than was asked for.
  func ended(_ response: HTTPResponse, _ report: DownloadSink.Report, _ url: HTTPURL) async throws -> Step {
    let written = part.written.end
    if let total = record?.total, written < total, report.received == 0 || report.isFresh {
      let sentence = "The body ended after \(written) of the \(total) bytes that were announced."
      return try await broken(TransportFailure(.truncated, sentence), report, url)
    }
    try await checkContent(of: response, report)
    if let total = record?.total, written < total {
      try await disk.value { try self.commit() }
      return .again
    }
    noteDigest(in: response.trailers, of: response.head)
    return .done(try await finished(response))
  }

  /// The digest of a message's content: of the file where it is the whole of it, else of the bytes that it brought.
  private func checkContent(of response: HTTPResponse, _ report: DownloadSink.Report) async throws {
    switch report.decision {
    case .append(let range, _), .begin(let range, _):
      let came = range.lowerBound..<min(range.lowerBound + report.received, range.upperBound)
      try await disk.value { try self.checkContent(of: response, in: came) }
    case .fresh where AnswerFacts.coding(of: response.fields) == nil:
      let stated = contentDigest(of: response)
      if let stated { state.withLock { $0.stated.append(stated) } }
    default: break
    }
  }

  /// The server answered with a status that brings no file.
  func refused(
    _ response: HTTPResponse, _ ask: RangeAsk, _ url: HTTPURL
  ) async throws -> Step {
    let decision = decide(response.head, to: ask)
    switch decision {
    case .alreadyWhole: return .done(try await finished(response))
    case .startOver: return startsOver() ? try await dropPart(because: "416") : .done(response)
    default: break
    }
    if asksFirstURLAgain(after: response, to: url) { return .again }
    if let url = try await freshURL(after: response) { return .elsewhere(url) }
    // Without a record, what is there is another's.
    if decision == .failDroppingPart, record != nil { try? await disk.value { try self.part.abandon() } }
    return .done(response)
  }

  /// A body broke off, or nothing came at all. What came is kept; where bytes came, the rest is asked for again.
  func broken(
    _ error: any Error, _ report: DownloadSink.Report, _ url: HTTPURL
  ) async throws -> Step {
    if case .mismatch(let mismatch) = report.decision { return try await startOver(because: mismatch) }
    if let failure = report.failure { return try await stopped(by: failure) }
    try await disk.value { try self.keep() }
    try context.call.check()
    guard report.received > 0, record?.isResumable == true, let kind = Self.breakKind(of: error),
      useTakeUp(.failure(kind), of: url)
    else { throw error }
    context.plan.log?.info("taking the download up again at \(part.written.end) bytes: \(error)")
    return .again
  }

  /// The part takes nothing more.
  func stopped(by failure: any Error) async throws -> Step {
    try? await disk.value { try self.stop(after: failure) }
    throw failure
  }

  /// What an error is of the line's that another try may overcome; nil for any other.
  static func breakKind(of error: any Error) -> TransportFailure.Kind? {
    guard let kind = TransportFailure.behind(error)?.kind else { return nil }
    return [.truncated, .reset, .idleTimeout, .closedBeforeResponse, .http2].contains(kind) ? kind : nil
  }

  /// Drops the part and asks once more for the whole; the second time it is an error.
  func startOver(because mismatch: ResumeMismatch) async throws -> Step {
    guard mismatch != .notAsked, startsOver() else { throw mismatch }
    return try await dropPart(because: String(describing: mismatch))
  }

  /// Whether the part is dropped, which is done once in a call.
  private func startsOver() -> Bool {
    state.withLock { state in
      defer { state.hasStartedOver = true }
      return !state.hasStartedOver
    }
  }

  private func dropPart(because reason: String) async throws -> Step {
    context.plan.log?.info("starting the download over: \(reason)")
    try await disk.value {
      try self.part.startOver(self.emptyRecord(AnswerFacts(validator: nil, total: nil, coding: nil)))
      try self.digests.startOver()
    }
    state.withLock { $0.record = nil }
    return .again
  }

  /// Whether a link that a redirect led to has expired; the first URL may lead to a new one. Once in a call, and only
  /// where what the first one was asked for may be repeated.
  private func asksFirstURLAgain(after response: HTTPResponse, to url: HTTPURL) -> Bool {
    guard response.status == 403, response.url != url, context.plan.allowsRepeating(request.method) else {
      return false
    }
    return state.withLock { state in
      defer { state.hasAskedAgain = true }
      return !state.hasAskedAgain
    }
  }

  /// Another URL for the same file, where the caller has one.
  private func freshURL(after response: HTTPResponse) async throws -> HTTPURL? {
    guard let ask = download.freshURL, [401, 403, 404, 410].contains(response.status),
      state.withLock({ !$0.hasAskedFreshURL })
    else { return nil }
    state.withLock { $0.hasAskedFreshURL = true }
    do {
      return try HTTPURL(try await context.call.running { try await ask(response) })
    } catch let error as APIError {
      throw error
    } catch {
      try context.call.check()
      throw APIError(.transfer, .invalidURL, "There is no fresh URL for the download: \(error).", cause: error)
    }
  }
}
