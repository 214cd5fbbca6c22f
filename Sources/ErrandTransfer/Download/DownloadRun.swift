import ErrandCore
import ErrandSupport
import Foundation

/// One call's way to a file: opens the part, asks for what is missing, takes a broken body up again, checks the whole
/// and gives it its name.
final class DownloadRun: Sendable {
  struct State: Sendable {
    /// What is known of the resource, for the next commit; nil before the first answer of a fresh download.
    var record: PartRecord?
    /// What the file has to hash to by the server's word.
    var stated: [Checksum] = []
    var fetched: Int64 = 0
    var takeUps: Int
    var hasStartedOver = false
    var hasAskedFreshURL = false
    var hasAskedForFirst = false
    var hasAskedAgain = false
    /// Whether another URL is known to lead to the same file.
    var isSameLink = false
  }

  let download: Download
  let part: PartFile
  let disk: DiskLane
  let meter: DownloadMeter?
  let timers: any Timers
  let context: CallContext
  private let request: HTTPRequest
  private let identity: RequestIdentity
  private let kept: Int64
  private let digests: PartDigests
  private let now: @Sendable () -> Int64
  let state: Locked<State>

  private init(
    _ download: Download, _ request: HTTPRequest, _ context: CallContext, _ part: PartFile, _ disk: DiskLane,
    _ now: @escaping @Sendable () -> Int64
  ) {
    self.download = download
    self.request = request
    self.context = context
    self.part = part
    self.disk = disk
    self.now = now
    timers = context.call.timers
    meter = context.onProgress.map(DownloadMeter.init)
    identity = Self.identity(of: request, context).naming(download.resource)
    kept = part.record?.finished.count ?? 0
    digests = PartDigests(download.digests + (download.checksum.map { [$0.algorithm] } ?? []))
    state = Locked(State(record: download.resumes ? part.record : nil, takeUps: max(download.takeUps, 0)))
  }

  /// Who asks for what. A credential of the request's own stands in the place of the account, and is added to the fields
  /// further down only.
  private static func identity(of request: HTTPRequest, _ context: CallContext) -> RequestIdentity {
    var fields = request.fields
    let own = context.plan.instead ?? context.plan.ownCredential
    if let own, !own.isEmpty, !fields.contains(.authorization) {
      fields.append(HTTPField(.authorization, own, isSecret: true))
    }
    let account = context.plan.instead == nil ? context.account : nil
    return RequestIdentity(method: request.method, url: request.url, fields: fields, account: account)
  }

  /// Opens and locks the part, on the disk lane; waits for another download of the target where the rule says so.
  static func open(
    _ download: Download, _ request: HTTPRequest, _ context: CallContext, _ files: any TransferFiles,
    _ now: @escaping @Sendable () -> Int64
  ) async throws -> DownloadRun {
    let target = try download.target(for: request.url)
    let disk = DiskLane()
    while true {
      try context.call.check()
      do {
        let part = try await disk.value { try Self.part(of: target, download, files) }
        return DownloadRun(download, request, context, part, disk, now)
      } catch let failure as FileFailure where failure.kind == .busy && download.whenBusy == .wait {
        try await context.call.sleep(until: context.call.timers.now.advanced(by: .milliseconds(100)))
      }
    }
  }

  private static func part(of target: String, _ download: Download, _ files: any TransferFiles) throws -> PartFile {
    if !download.replaces, try files.status(at: target) != nil {
      throw FileFailure(.open, target, .exists, detail: "it is there already, and the download does not replace it")
    }
    return try PartFile.open(target: target, files: files)
  }

  // MARK: - The way

  /// Asks until the file is whole, or says why it cannot be.
  func carryOut(_ next: Next) async throws -> HTTPResponse {
    do {
      let response = try await fetch(next)
      try await disk.value { self.leave() }
      return response
    } catch {
      try? await disk.value { self.leave() }
      throw error
    }
  }

  private func fetch(_ next: Next) async throws -> HTTPResponse {
    var request = request
    while true {
      let question = ResumeQuestion(
        record, request: identity, checksum: download.checksum?.recorded,
        isSameLink: state.withLock { $0.isSameLink })
      switch try await step(request, question, next) {
      case .again: continue
      case .done(let response): return response
      case .elsewhere(let url): request.url = url
      }
    }
  }

  private func step(_ request: HTTPRequest, _ question: ResumeQuestion, _ next: Next) async throws -> Step {
    if let segments = segments(question) { return try await sideBySide(segments, request, next) }
    let ask = question.ask == .whole && asksForFirst(request) ? .first(SegmentPlan.smallestPiece) : question.ask
    let sink = DownloadSink(self, ask)
    let result = await exchange(request, ask, sink, next)
    return try await judged(result, sink, ask, request.url)
  }

  enum Step {
    case again
    case elsewhere(HTTPURL)
    case done(HTTPResponse)
  }

  private func exchange(
    _ request: HTTPRequest, _ ask: RangeAsk, _ sink: DownloadSink, _ next: Next
  ) async -> Result<HTTPResponse, any Error> {
    var request = request
    ask.apply(to: &request.fields)
    meter?.waitForHead()
    let report = meter.map { meter -> (@Sendable (TransferProgress) -> Void) in { meter.tell($0) } }
    do {
      return .success(try await next(request, in: context.with(sink: sink, onProgress: report)))
    } catch {
      return .failure(error)
    }
  }

  private func judged(
    _ result: Result<HTTPResponse, any Error>, _ sink: DownloadSink, _ ask: RangeAsk, _ url: HTTPURL
  ) async throws -> Step {
    // Behind what the sink has given it, so that its report is complete.
    try await disk.value {}
    let report = sink.report
    state.withLock { $0.fetched += report.received }
    switch result {
    case .success(let response) where report.isWhole && report.failure == nil: return try await ended(response, report)
    case .success(let response):
      if let failure = report.failure { throw failure }
      return try await refused(response, ask, url)
    case .failure(let error): return try await broken(error, report)
    }
  }

  // MARK: - After an exchange

  /// A body came as it should. There may be more: a server may send less than was asked for.
  private func ended(_ response: HTTPResponse, _ report: DownloadSink.Report) async throws -> Step {
    noteContent(response.fields, report.decision)
    let written = part.written.end
    if let total = record?.total, written < total, report.received > 0 {
      try await disk.value { try self.commit() }
      return .again
    }
    return .done(try await finished(response))
  }

  /// The server answered with a status that brings no file.
  func refused(
    _ response: HTTPResponse, _ ask: RangeAsk, _ url: HTTPURL
  ) async throws -> Step {
    let decision = decide(response.head, to: ask)
    switch decision {
    case .alreadyWhole: return .done(try await finished(response))
    case .startOver: return try await startOver(because: nil, response)
    default: break
    }
    if asksFirstURLAgain(after: response, to: url) { return .again }
    if let url = try await freshURL(after: response) { return .elsewhere(url) }
    if decision == .failDroppingPart { try? await disk.value { try self.part.abandon() } }
    return .done(response)
  }

  /// A body broke off, or nothing came at all. What came is kept; where bytes came, the rest is asked for again.
  private func broken(_ error: any Error, _ report: DownloadSink.Report) async throws -> Step {
    if case .mismatch(let mismatch) = report.decision { return try await startOver(because: mismatch, nil) }
    if let failure = report.failure {
      try? await disk.value { try self.part.rollBack() }
      throw failure
    }
    try await disk.value { try self.keep() }
    try context.call.check()
    guard report.received > 0, record?.isResumable == true, Self.isBreak(error),
      useTakeUp()
    else { throw error }
    context.plan.log?.info("taking the download up again at \(part.written.end) bytes: \(error)")
    return .again
  }

  /// Whether an error is one of the line's that another try may overcome.
  static func isBreak(_ error: any Error) -> Bool {
    guard let failure = error as? TransportFailure else { return false }
    return [.truncated, .reset, .idleTimeout, .closedBeforeResponse, .http2].contains(failure.kind)
  }

  /// Drops the part and asks once more for the whole; the second time it is an error.
  func startOver(because mismatch: ResumeMismatch?, _ response: HTTPResponse?) async throws -> Step {
    let isFirst = state.withLock { state in
      defer { state.hasStartedOver = true }
      return !state.hasStartedOver
    }
    guard isFirst, mismatch != .notAsked else {
      if let mismatch { throw mismatch }
      if let response { return .done(response) }
      throw CallState.Stopped(reason: .cancelled)
    }
    context.plan.log?.info("starting the download over: \(mismatch.map(String.init(describing:)) ?? "416")")
    try await disk.value {
      try self.part.startOver(self.emptyRecord(AnswerFacts(validator: nil, total: nil, coding: nil)))
      try self.digests.startOver()
    }
    state.withLock { $0.record = nil }
    return .again
  }

  /// Whether a link that a redirect led to has expired; the first URL may lead to a new one. Once in a call.
  private func asksFirstURLAgain(after response: HTTPResponse, to url: HTTPURL) -> Bool {
    guard response.status == 403, response.url != url else { return false }
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
    state.withLock {
      $0.hasAskedFreshURL = true
      $0.isSameLink = true
    }
    let text = try await ask(response)
    do {
      return try HTTPURL(text)
    } catch {
      throw APIError(.transfer, .invalidURL, "The fresh URL of the download cannot be used: \(error).", cause: error)
    }
  }

  // MARK: - The end

  /// Checks the whole and gives it its name.
  func finished(_ response: HTTPResponse) async throws -> HTTPResponse {
    let file = try await disk.value { try self.finish(response) }
    meter?.finish(file.bytes)
    return response.written(to: file)
  }

  private func finish(_ response: HTTPResponse) throws -> DownloadedFile {
    let bytes = part.written.end
    let checked = try check()
    let target = download.target(saidBy: response.fields) ?? part.names.target
    try part.finish(
      total: record?.total, overwriting: download.replaces, as: target, permissions: download.permissions)
    return DownloadedFile(
      url: URL(filePath: target, directoryHint: .notDirectory), bytes: bytes,
      keptBytes: state.withLock { $0.hasStartedOver } ? 0 : min(kept, max(bytes - fetched, 0)), fetchedBytes: fetched,
      checkedBy: checked)
  }

  /// Holds the whole against every checksum there is; a mismatch deletes the part.
  private func check() throws -> [String] {
    let wanted = (download.checksum.map { [$0] } ?? []) + state.withLock { $0.stated }
    if wanted.isEmpty { return [] }
    try digests.catchUp(with: part)
    let found = digests.finish()
    for checksum in wanted {
      let digest = found[checksum.algorithm.name] ?? Data()
      if checksum.matches(digest) { continue }
      try? part.abandon()
      throw Self.mismatch(checksum, digest)
    }
    return Set(wanted.map(\.algorithm.name)).sorted()
  }

  private static func mismatch(_ checksum: Checksum, _ digest: Data) -> APIError {
    let name = checksum.algorithm.name
    let found = (try? Checksum(checksum.algorithm, digest))?.hex ?? "unknown"
    return APIError(
      .transfer, .checksumMismatch,
      "The \(name) of what came is \(found) and should be \(checksum.hex); it was deleted.")
  }

  // MARK: - The record

  /// What is known of the resource.
  var record: PartRecord? { state.withLock { $0.record } }
  private var fetched: Int64 { state.withLock { $0.fetched } }
  /// Decides on an answer; by the bytes that are on the disk, which is what was asked for.
  func decide(_ head: ResponseHead, to ask: RangeAsk) -> ResumeDecision {
    ResumeDecision.decide(head, to: ask, record: record, now: now())
  }

  /// The total became known by a later answer.
  func learn(total: Int64?) {
    state.withLock { state in
      if state.record?.total == nil { state.record?.total = total }
    }
  }

  /// A new whole begins; returns its record.
  func begin(_ facts: AnswerFacts) -> PartRecord {
    let record = emptyRecord(facts)
    state.withLock {
      $0.record = record
      $0.stated = []
    }
    return record
  }

  private func emptyRecord(_ facts: AnswerFacts) -> PartRecord {
    PartRecord(
      request: identity, validator: facts.validator, total: facts.total, coding: facts.coding,
      checksum: download.checksum?.recorded, now: now())
  }

  /// What a head says that the whole hashes to: also that of an answer which breaks off.
  func noteDigest(of head: ResponseHead) {
    let stated = DigestFields(head.fields, known: download.digests).representation.checksum
    if let stated { state.withLock { $0.stated.append(stated) } }
  }

  /// The digest of a message's content, which is the file only where it is the whole of it.
  private func noteContent(_ fields: HTTPFields, _ decision: ResumeDecision?) {
    guard case .fresh = decision else { return }
    let stated = DigestFields(fields, known: download.digests).content.checksum
    if let stated { state.withLock { $0.stated.append(stated) } }
  }

  // MARK: - On the disk lane

  /// Empties the part for a new whole.
  func empty(_ record: PartRecord) throws {
    try digests.startOver()
    if part.record != nil || part.written.end > 0 { try part.startOver(record) }
  }

  /// Brings what was written to the disk, with a record of it.
  func commit() throws {
    guard var record else { return }
    record.updated = now()
    try part.commit(record)
    state.withLock { $0.record?.finished = part.committed }
    try digests.catchUp(with: part)
  }

  /// Lets the part go; one without bytes is removed.
  private func leave() {
    if part.written.end == 0 { try? part.abandon() }
    part.close()
  }

  /// Keeps what can be gone on with; removes what cannot.
  func keep() throws {
    guard let record else { return }
    if record.isResumable, part.written.end > 0 { try commit() } else { try part.startOver(record) }
  }
}

extension Checksum {
  /// The checksum as it stands in the record.
  var recorded: RecordedChecksum {
    RecordedChecksum(algorithm: algorithm.name, hex: hex)
  }
}
