import ErrandCore
import ErrandSupport
import Foundation

/// One call of a download. It opens the partial file, requests the missing bytes, resumes after an interrupted body,
/// verifies the file and renames it to its target.
final class DownloadRun: Sendable {
  struct State: Sendable {
    /// The metadata record that the next commit writes; nil before the first response of a new download.
    var metadata: PartMetadata?
    /// The digests that the server states for the whole file.
    var stated: [Checksum] = []
    /// The target path with the file name that the server chose in the first response with a name for this version of
    /// the file, in this call or in an earlier one. Nil if no response contained a name.
    var named: String?
    var fetched: Int64 = 0
    var resumptionsLeft: Int
    /// The number of retry tokens that the last resumption has taken, and the origin whose retry budget they were taken
    /// from. The tokens are refunded if the download succeeds.
    var paid: (cost: Int, origin: HTTPURL.Origin)?
    /// The kinds of reactions to problems that this call has already used.
    var used: Set<Reaction> = []
    /// Whether the partial file is useless, because a checksum is wrong or the file is too long.
    var isWrong = false
  }

  /// The reactions of a download to a problem. Each reaction is used at most once in a call, so that no server keeps
  /// the download busy forever. The reactions to an expired link may be used again after bytes of the file have
  /// arrived, because a download may last longer than several links are valid.
  enum Reaction: Sendable {
    /// The download discards the partial file and requests the whole file.
    case startOver
    /// The download requests only the first bytes of the file, to learn whether the server supports ranges.
    case firstBytes
    /// The download requests its first URL again, because the redirect from this URL led to a URL that has expired.
    case firstURLAgain
    /// The download calls the caller's `freshURL` to get another URL of the file.
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

  init(
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
    identity = RequestIdentity(of: request, context).naming(download.resource)
    kept = part.metadata?.finished.count ?? 0
    digests = PartDigests(download.digests + (download.checksum.map { [$0.algorithm] } ?? []))
    var metadata = download.resumes ? part.metadata : nil
    if ResumeQuestion(metadata, request: identity, checksum: download.checksum?.recorded).isOfAnother { metadata = nil }
    metadata?.choices = RecordedChoices(download)
    if let checksum = download.checksum?.recorded { metadata?.checksum = checksum }
    let named = metadata?.name.flatMap { download.target(named: $0) }
    state = Locked(State(metadata: metadata, named: named, resumptionsLeft: max(download.takeUps, 0)))
  }

  /// Throws if a file is already at the target path and must not be replaced. A folder has an error of its own.
  static func check(_ target: String, _ download: Download, _ files: any TransferFiles) throws {
    if !download.replaces, let found = try? files.status(at: target), found.kind != .folder {
      throw FileFailure(.open, target, .exists, detail: "the file already exists, and the download does not replace it")
    }
  }

  /// Called after the response headers arrived. If the server chose the file name, checks that the target may be
  /// written. Throws if a folder or another special file has the name, even with `replaces`. A link is replaced.
  func checkName() throws {
    guard download.isNamedByServer else { return }
    let target = target
    try Self.check(target, download, part.files)
    try PartFile.check(target, part.files, isNamedByServer: true)
  }

  /// The path of the target. If the server chooses the name, the path changes when the name is known.
  private var target: String {
    state.withLock { $0.named } ?? (try? download.target(for: request.url)) ?? part.names.target
  }

  /// Returns true if this call of the download may use the reaction. Records that the reaction is used now.
  func mayUse(_ reaction: Reaction) -> Bool { state.withLock { $0.used.insert(reaction).inserted } }

  /// Called after an HTTP exchange that has received bytes of the file. The download may last longer than a credential
  /// or a link is valid, so the call may then get another one again.
  func noteProgress() {
    context.flags.noteProgress()
    state.withLock { $0.used.subtract([.firstURLAgain, .freshURL]) }
  }

  /// The rate limits for the next response bodies.
  func throttle(at now: MonotonicInstant) -> DownloadThrottle {
    DownloadThrottle(download, at: now, continues: kept > 0 || state.withLock { $0.fetched } > 0)
  }

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
      let question = ResumeQuestion(metadata, request: identity, checksum: download.checksum?.recorded)
      switch try await step(request, question, next) {
      case .again: continue
      case .done(let response): return response
      case .elsewhere(let url):
        // The URL from the caller's `freshURL` may belong to another party. So secret fields are removed if the origin
        // changes, as for a redirect.
        if url.origin != request.url.origin {
          request.fields.removeAll { RedirectDecision.isWithheld($0, by: context.plan.sending.redirects) }
        }
        request.url = url
      }
    }
  }

  private func step(_ request: HTTPRequest, _ question: ResumeQuestion, _ next: Next) async throws -> Step {
    try checkSize(metadata?.total)
    if let segments = segments(question) { return try await sideBySide(segments, request, next) }
    let requested =
      question.requested == .whole && asksForFirst(request) ? .first(SegmentPlan.smallestPiece) : question.requested
    note(question)
    let sink = DownloadSink(self, requested)
    let result = await exchange(request, requested, sink, next)
    return try await judged(result, sink, requested, request.url)
  }

  /// Records whether the partial file is continued, and if not, why.
  private func note(_ question: ResumeQuestion) {
    guard context.record.flight != nil else { return }
    if case .rest(let start, _) = question.requested {
      context.note(.download(.resumed(at: start, of: metadata?.total)))
    } else if let obstacle = question.obstacle {
      context.note(.download(.whole(reason: obstacle.clause)))
    }
  }

  enum Step {
    case again
    case elsewhere(HTTPURL)
    case done(HTTPResponse)
  }

  private func exchange(
    _ request: HTTPRequest, _ requested: RequestedRange, _ sink: DownloadSink, _ next: Next
  ) async -> Result<HTTPResponse, any Error> {
    var request = request
    requested.apply(to: &request.fields)
    meter?.waitForHead()
    let report = meter.map { meter -> (@Sendable (TransferProgress) -> Void) in { meter.forward($0) } }
    let streaming = context.with {
      $0.sink = sink
      $0.onProgress = report
    }
    return await .catching { [request] in try await next(request, in: streaming) }
  }

  private func judged(
    _ result: Result<HTTPResponse, any Error>, _ sink: DownloadSink, _ requested: RequestedRange, _ url: HTTPURL
  ) async throws -> Step {
    // This job runs after all earlier jobs of the sink, because the disk queue is serial. So the report of the sink is
    // complete when this job has ended.
    try await disk.value { sink.finish() }
    let report = sink.report
    state.withLock { $0.fetched += report.received }
    if report.received > 0 { noteProgress() }
    switch result {
    case .success(let response) where report.isWhole && report.failure == nil:
      return try await ended(response, report, url)
    case .success(let response):
      if let failure = report.failure { return try await stopped(by: failure) }
      return try await refused(response, requested, url)
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
    if let paid = state.withLock({ $0.paid }) { retrying.succeed(paid: paid.cost, at: paid.origin) }
    meter?.finish(file.bytes)
    return response.written(to: file)
  }

  /// Commits the bytes of a complete partial file that could not be renamed, so that they need not be fetched again.
  private func keepWhole() throws {
    if metadata?.isResumable == true, !state.withLock({ $0.isWrong }) { try commit() }
  }

  private func finish(_ response: HTTPResponse) throws -> DownloadedFile {
    let bytes = part.written.end
    try checkSize(bytes)
    let checked = try check()
    noteName(in: response.fields)
    let target = target
    try part.finish(
      total: metadata?.total, overwriting: download.replaces, as: target, permissions: download.permissions)
    return DownloadedFile(
      url: URL(filePath: target, directoryHint: .notDirectory), bytes: bytes,
      keptBytes: hasStartedOver ? 0 : min(kept, max(bytes - fetched, 0)), fetchedBytes: fetched,
      checkedBy: checked)
  }

  /// Compares the partial file with all expected checksums. Returns the names of the algorithms whose checksums
  /// matched. If a checksum does not match, the partial file is deleted.
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
