import ErrandCore
import ErrandSupport
import Foundation

/// One call of a download. It opens the partial file, requests the missing bytes, resumes after a broken body, verifies
/// the file and renames it to its target.
final class DownloadRun: Sendable {
  struct State: Sendable {
    /// The record for the next commit; nil before the first response of a fresh download.
    var record: PartRecord?
    /// The digests that the server states for the file.
    var stated: [Checksum] = []
    /// The path with the file name from the first response of a version; nil if it contains no name.
    var named: String?
    var fetched: Int64 = 0
    var takeUps: Int
    /// The cost of the last resumption of a broken body, and the origin whose retry budget was charged.
    var paid: (cost: Int, origin: HTTPURL.Origin)?
    /// The remedies that this call has used. See ``DownloadRun/Remedy``.
    var used: Set<Remedy> = []
    /// Whether the partial file is useless, because a checksum is wrong or the file is too long.
    var isWrong = false
  }

  /// What a download does about a problem, each at most once in a call, so that no server keeps the download busy
  /// forever.
  enum Remedy: Sendable {
    /// Discards the partial file and requests the whole file.
    case startOver
    /// Requests the first bytes alone, to learn whether the server supports ranges.
    case firstBytes
    /// Requests the first URL again, because the target of its redirect has expired.
    case firstURLAgain
    /// Asks the caller for another URL.
    case freshURL
  }

  let download: Download
  let part: PartFile
  let disk: DiskQueue
  let meter: DownloadMeter?
  let timers: any Timers
  let context: CallContext
  let request: HTTPRequest
  let identity: RequestIdentity
  private let kept: Int64
  let digests: PartDigests
  let retrying: RetryControl
  let now: @Sendable () -> Int64
  let state: Locked<State>

  private init(
    _ download: Download, _ request: HTTPRequest, _ context: CallContext, _ part: PartFile, _ disk: DiskQueue,
    _ retrying: RetryControl, _ now: @escaping @Sendable () -> Int64
  ) {
    self.download = download
    self.request = request
    self.context = context
    self.part = part
    self.disk = disk
    self.retrying = retrying
    self.now = now
    timers = context.call.timers
    meter = context.onProgress.map(DownloadMeter.init)
    identity = Self.identity(of: request, context).naming(download.resource)
    kept = part.record?.finished.count ?? 0
    digests = PartDigests(download.digests + (download.checksum.map { [$0.algorithm] } ?? []))
    var record = download.resumes ? part.record : nil
    if ResumeQuestion(record, request: identity, checksum: download.checksum?.recorded).isOfAnother { record = nil }
    record?.choices = RecordedChoices(download)
    state = Locked(State(record: record, takeUps: max(download.takeUps, 0)))
  }

  /// The identity of the request, which decides whether the partial file fits. It includes a credential that the
  /// request sets itself, because the pipeline adds that credential to the fields only later. It excludes the account
  /// if the request does not use the account's credential.
  static func identity(of request: HTTPRequest, _ context: CallContext) -> RequestIdentity {
    var fields = request.fields
    let own = context.plan.instead ?? context.plan.ownCredential
    if let own, !own.isEmpty, !fields.contains(.authorization) {
      fields.append(HTTPField(.authorization, own, isSecret: true))
    }
    let account = context.plan.instead == nil ? context.account : nil
    return RequestIdentity(
      method: request.method, url: request.url, fields: fields, account: account,
      transport: context.plan.transportIdentity)
  }

  /// Opens and locks the partial file on the disk queue. Waits for another download of the target if `whenBusy`
  /// requires it.
  static func open(
    _ download: Download, _ request: HTTPRequest, _ context: CallContext, _ files: any TransferFiles,
    _ retrying: RetryControl, _ now: @escaping @Sendable () -> Int64
  ) async throws -> DownloadRun {
    let target = try download.target(for: request.url)
    let disk = DiskQueue()
    while true {
      try context.call.check()
      do {
        let part = try await disk.value { try Self.part(of: target, download, files) }
        return DownloadRun(download, request, context, part, disk, retrying, now)
      } catch let failure as FileFailure where failure.kind == .busy && download.whenBusy == .wait {
        try await context.call.sleep(until: context.call.timers.now.advanced(by: .milliseconds(100)))
      }
    }
  }

  private static func part(of target: String, _ download: Download, _ files: any TransferFiles) throws -> PartFile {
    if !download.isNamedByServer { try check(target, download, files) }
    return try PartFile.open(target: target, files: files)
  }

  /// Throws if the target exists and must not be replaced.
  private static func check(_ target: String, _ download: Download, _ files: any TransferFiles) throws {
    if !download.replaces, try files.status(at: target) != nil {
      throw FileFailure(.open, target, .exists, detail: "it already exists, and the download does not replace it")
    }
  }

  /// Checks the target after the response headers, if the server chooses the file name.
  func checkName() throws {
    if download.isNamedByServer { try Self.check(target, download, part.files) }
  }

  /// The path of the target. If the server chooses the name, the path changes when the name is known.
  private var target: String { state.withLock { $0.named } ?? part.names.target }

  /// Whether a remedy may be used now. True only the first time in a call.
  func takes(_ remedy: Remedy) -> Bool { state.withLock { $0.used.insert(remedy).inserted } }

  // MARK: - Requests

  /// Sends requests until the file is complete or an error ends the download.
  func carryOut(_ next: Next) async throws -> HTTPResponse {
    do {
      let response = try await fetch(next)
      try await disk.value { self.leave() }
      return response
    } catch {
      try? await disk.value {
        if error is CallState.Stopped { try? self.keep() }
        self.leave()
      }
      throw error
    }
  }

  private func fetch(_ next: Next) async throws -> HTTPResponse {
    var request = request
    while true {
      let question = ResumeQuestion(record, request: identity, checksum: download.checksum?.recorded)
      switch try await step(request, question, next) {
      case .again: continue
      case .done(let response): return response
      case .elsewhere(let url):
        // The caller's URL may belong to another party, so secret fields are removed as for a redirect.
        if url.origin != request.url.origin { request.fields.removeAll { $0.isSecret } }
        request.url = url
      }
    }
  }

  private func step(_ request: HTTPRequest, _ question: ResumeQuestion, _ next: Next) async throws -> Step {
    try checkSize(record?.total)
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
    // This job runs after all earlier jobs of the sink on the queue, so the sink's report is then complete.
    try await disk.value { sink.finish() }
    let report = sink.report
    state.withLock { $0.fetched += report.received }
    switch result {
    case .success(let response) where report.isWhole && report.failure == nil:
      return try await ended(response, report, url)
    case .success(let response):
      if let failure = report.failure { return try await stopped(by: failure) }
      return try await refused(response, ask, url)
    case .failure(let error): return try await broken(error, report, url)
    }
  }

  // MARK: - The end

  /// Verifies the complete partial file and renames it to the target.
  func finished(_ response: HTTPResponse) async throws -> HTTPResponse {
    let file: DownloadedFile
    do {
      file = try await disk.value { try self.finish(response) }
    } catch {
      try? await disk.value { try self.keepWhole() }
      throw error
    }
    if let paid = state.withLock({ $0.paid }) { retrying.succeedAfterTakeUp(paid: paid.cost, at: paid.origin) }
    meter?.finish(file.bytes)
    return response.written(to: file)
  }

  /// Commits a complete partial file that could not be renamed.
  private func keepWhole() throws {
    if record?.isResumable == true, !state.withLock({ $0.isWrong }) { try commit() }
  }

  private func finish(_ response: HTTPResponse) throws -> DownloadedFile {
    let bytes = part.written.end
    try checkSize(bytes)
    let checked = try check()
    noteName(in: response.fields)
    let target = target
    try part.finish(
      total: record?.total, overwriting: download.replaces, as: target, permissions: download.permissions)
    return DownloadedFile(
      url: URL(filePath: target, directoryHint: .notDirectory), bytes: bytes,
      keptBytes: hasStartedOver ? 0 : min(kept, max(bytes - fetched, 0)), fetchedBytes: fetched,
      checkedBy: checked)
  }

  /// Compares the partial file with all checksums. A mismatch deletes the partial file.
  private func check() throws -> [String] {
    let wanted = (download.checksum.map { [$0] } ?? []) + state.withLock { $0.stated }
    if wanted.isEmpty { return [] }
    try digests.catchUp(with: part) { context.call.isRunning }
    try context.call.check()
    let found = digests.finish()
    for checksum in wanted {
      try hold(found[checksum.algorithm.name] ?? Data(), against: checksum, of: "the downloaded file")
    }
    return Set(wanted.map(\.algorithm.name)).sorted()
  }

  /// Compares the received bytes of a response with the digest that the response states for them.
  func checkContent(of response: HTTPResponse, in range: Range<Int64>) throws {
    guard let stated = contentDigest(of: response) else { return }
    let hash = try stated.algorithm.makeHash()
    try part.read(range) { piece in
      try context.call.check()
      hash.update(piece)
    }
    try hold(hash.finish(), against: stated, of: "the bytes from \(range.lowerBound) to \(range.upperBound)")
  }

  private func hold(_ digest: Data, against checksum: Checksum, of bytes: String) throws {
    if checksum.matches(digest) { return }
    // Other tasks may still write into the partial file, so it is removed only when it is closed.
    state.withLock { $0.isWrong = true }
    let name = checksum.algorithm.name
    let found = (try? Checksum(checksum.algorithm, digest))?.hex ?? "unknown"
    throw APIError(
      .transfer, .checksumMismatch,
      "The \(name) of \(bytes) is \(found), but \(checksum.hex) was expected; the partial file was deleted.")
  }
}
