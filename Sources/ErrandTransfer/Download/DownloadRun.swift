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
    /// The path of the file by the server's word, which the first answer of a whole has; nil where it says none.
    var named: String?
    var fetched: Int64 = 0
    var takeUps: Int
    /// What the last of them cost, and whom.
    var paid: (cost: Int, origin: HTTPURL.Origin)?
    var hasStartedOver = false
    var hasAskedFreshURL = false
    var hasAskedForFirst = false
    var hasAskedAgain = false
    /// Whether what is there is of no use: a checksum has shown wrong bytes, or they are too many.
    var isWrong = false
  }

  let download: Download
  let part: PartFile
  let disk: DiskLane
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
    _ download: Download, _ request: HTTPRequest, _ context: CallContext, _ part: PartFile, _ disk: DiskLane,
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

  /// Who asks for what. A credential of the request's own stands in the place of the account, and is added to the fields
  /// further down only.
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

  /// Opens and locks the part, on the disk lane; waits for another download of the target where the rule says so.
  static func open(
    _ download: Download, _ request: HTTPRequest, _ context: CallContext, _ files: any TransferFiles,
    _ retrying: RetryControl, _ now: @escaping @Sendable () -> Int64
  ) async throws -> DownloadRun {
    let target = try download.target(for: request.url)
    let disk = DiskLane()
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

  /// A file that is there may have to stay.
  private static func check(_ target: String, _ download: Download, _ files: any TransferFiles) throws {
    if !download.replaces, try files.status(at: target) != nil {
      throw FileFailure(.open, target, .exists, detail: "it is there already, and the download does not replace it")
    }
  }

  /// The same where the server has named the file.
  func checkName() throws {
    if download.isNamedByServer { try Self.check(target, download, part.files) }
  }

  /// The path that the file gets, as far as it is known.
  private var target: String { state.withLock { $0.named } ?? part.names.target }

  // MARK: - The way

  /// Asks until the file is whole, or says why it cannot be.
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
        // A stranger, for all that is known: secrets stay behind as with a redirect.
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
    // Behind what the sink has given it, so that its report is complete.
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

  /// Checks the whole and gives it its name.
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

  /// Keeps the whole that could not get its name.
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
      keptBytes: state.withLock { $0.hasStartedOver } ? 0 : min(kept, max(bytes - fetched, 0)), fetchedBytes: fetched,
      checkedBy: checked)
  }

  /// Holds the whole against every checksum there is; a mismatch deletes the part.
  private func check() throws -> [String] {
    let wanted = (download.checksum.map { [$0] } ?? []) + state.withLock { $0.stated }
    if wanted.isEmpty { return [] }
    try digests.catchUp(with: part) { context.call.isRunning }
    try context.call.check()
    let found = digests.finish()
    for checksum in wanted {
      try hold(found[checksum.algorithm.name] ?? Data(), against: checksum, of: "what came")
    }
    return Set(wanted.map(\.algorithm.name)).sorted()
  }

  /// Holds the bytes of one message among several against the digest that it states of them.
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
    // Others may still write: the part goes when it is let go.
    state.withLock { $0.isWrong = true }
    let name = checksum.algorithm.name
    let found = (try? Checksum(checksum.algorithm, digest))?.hex ?? "unknown"
    throw APIError(
      .transfer, .checksumMismatch,
      "The \(name) of \(bytes) is \(found) and should be \(checksum.hex); the part was deleted.")
  }
}
