import Errand
import ErrandChecksum
import ErrandSupport
import Foundation

/// Performs downloads, several of them in parallel, and displays their progress.
final class DownloadRunner: Sendable {
  private struct State: Sendable {
    var calls: [Int: DownloadCall] = [:]
    /// The last progress report of each download. The key is the number of the download.
    var lastProgress: [Int: TransferProgress] = [:]
    var isInterrupted = false
  }

  private let jobs: [DownloadJob]
  private let options: DownloadOptions
  private let client: APIClient
  private let display: ProgressDisplay?
  private let bandwidth: Bandwidth?
  private let state = Locked(State())

  init(_ jobs: [DownloadJob], _ options: DownloadOptions, _ client: APIClient, _ display: ProgressDisplay?) {
    self.jobs = jobs
    self.options = options
    self.client = client
    self.display = display
    bandwidth = options.bytesPerSecond.map { Bandwidth(bytesPerSecond: $0) }
  }

  var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  /// Stops the running downloads and keeps their partial files. Waiting downloads do not start.
  func interrupt() {
    let calls = state.withLock { state in
      state.isInterrupted = true
      return Array(state.calls.values)
    }
    for call in calls {
      Task { await call.cancel() }
    }
  }

  /// Performs all downloads. Returns their results in the order in which the downloads were given.
  func run() async -> [DownloadEnd] {
    for job in jobs { _ = display?.add(ProgressState(name: job.name, phase: .waiting)) }
    return await withTaskGroup(of: (Int, DownloadEnd).self) { group in
      var ends: [Int: DownloadEnd] = [:]
      var waiting = jobs.indices[...]
      func beginNext() {
        guard let number = waiting.popFirst() else { return }
        group.addTask { (number, await self.run(number)) }
      }
      for _ in 0..<options.width { beginNext() }
      for await (number, end) in group {
        ends[number] = end
        beginNext()
      }
      return jobs.indices.compactMap { ends[$0] }
    }
  }

  // MARK: - One download

  private func run(_ number: Int) async -> DownloadEnd {
    let start = ContinuousClock.now
    let end = await ended(number)
    display?.report(finalState(of: number, end, after: .now - start), of: number)
    return end
  }

  private func ended(_ number: Int) async -> DownloadEnd {
    let job = jobs[number]
    guard let call = begin(number) else { return .stopped(kept: job.kept) }
    defer { state.withLock { $0.calls[number] = nil } }
    let left = options.startsOver ? 0 : job.kept
    for await progress in call.progress where progress.direction == .download {
      state.withLock { $0.lastProgress[number] = progress }
      display?.report(shown(progress, of: job, left), of: number)
    }
    do throws(APIError) {
      let file = try await call.value()
      return file.alreadyExisted ? .alreadyComplete(file.bytes) : .done(file)
    } catch {
      if error.isCancelled { return .stopped(kept: job.kept) }
      // The bytes in the partial file belong to the other download.
      return .failed(error, kept: error.code == .busy ? 0 : job.kept)
    }
  }

  /// Starts a download. Returns nil if the user has interrupted the command.
  private func begin(_ number: Int) -> DownloadCall? {
    if isInterrupted { return nil }
    let call = client.download(request(jobs[number]))
    let isUnwanted = state.withLock { state in
      state.calls[number] = call
      return state.isInterrupted
    }
    if isUnwanted {
      Task { await call.cancel() }
    }
    return call
  }

  private func request(_ job: DownloadJob) -> ShellDownload {
    let freshURL = options.refresh.map { link -> (@Sendable (HTTPResponse) async throws -> String) in
      { [client] _ in try await link.url(for: job.url, client) }
    }
    return ShellDownload(job: job, options: options, bandwidth: bandwidth, freshURL: freshURL)
  }

  // MARK: - Showing

  private func shown(_ progress: TransferProgress, of job: DownloadJob, _ left: Int64) -> ProgressState {
    ProgressState(
      name: job.name, bytes: progress.bytes, kept: left, total: progress.total, rate: progress.rate,
      timeLeft: progress.timeLeft)
  }

  private func finalState(of number: Int, _ end: DownloadEnd, after elapsed: Duration) -> ProgressState {
    let lastProgress = self.state.withLock { $0.lastProgress[number] }
    var state = ProgressState(name: jobs[number].name, phase: end.phase(hasBegun: (lastProgress?.bytes ?? 0) > 0))
    state.bytes = lastProgress?.bytes ?? 0
    state.total = lastProgress?.total
    switch end {
    case .done(let file):
      state.name = file.url.lastPathComponent
      state.bytes = file.bytes
      state.total = file.bytes
      state.elapsed = elapsed
      let seconds = elapsed / .seconds(1)
      state.rate = seconds > 0 && file.fetchedBytes > 0 ? Double(file.fetchedBytes) / seconds : nil
      state.note = Self.note(on: file)
    case .alreadyComplete(let bytes):
      state.bytes = bytes
      state.note = "already there"
    case .failed, .stopped: break
    }
    return state
  }

  /// A text that states how many bytes an earlier run had fetched and which checksums were verified; nil if neither
  /// applies.
  private static func note(on file: DownloadedFile) -> String? {
    var parts: [String] = []
    if file.keptBytes > 0 { parts.append("\(Wording.bytes(file.keptBytes)) kept from an earlier run") }
    if !file.checkedBy.isEmpty { parts.append("\(file.checkedBy.joined(separator: " and ")) verified") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

struct ShellDownload: APIRequest {
  let job: DownloadJob
  let options: DownloadOptions
  /// The rate limit that all files share.
  let bandwidth: Bandwidth?
  /// Provides another URL if the server rejects the first URL.
  let freshURL: (@Sendable (HTTPResponse) async throws -> String)?

  typealias Response = DownloadedFile
  var path: Path { Path(job.url) }
  var credential: RequestCredential { options.credential }
  var timeouts: Timeouts { options.timeout.map { Timeouts(total: .after($0)) } ?? .inherited }
  var headers: RequestHeaders { RequestHeaders(merging: options.fields) }

  var download: Download? {
    var download = job.download
    if let choice = options.replacesByChoice { download.replaces = choice }
    download.acceptsExisting = options.continues
    download.resumes = !options.startsOver
    download.resource = options.resource
    download.checksum = job.checksum
    download.digests = .standard
    download.whenBusy = options.waits ? .wait : .fail
    download.parallel = options.parallel
    download.bandwidth = bandwidth
    download.freshURL = freshURL
    if job.left == nil { download.permissions = Self.permissions(inPlaceOf: job.target) }
    return download
  }

  /// The default permissions of a new file of this process.
  private static let permissionsOfNew: UInt16 = {
    let mask = umask(0o077)
    umask(mask)
    return 0o666 & ~UInt16(truncatingIfNeeded: mask)
  }()

  /// The permissions of the existing file that will be replaced. If there is no such file, the default permissions of a
  /// new file.
  private static func permissions(inPlaceOf target: URL?) -> UInt16 {
    let old = target.flatMap { try? FileManager.default.attributesOfItem(atPath: $0.path(percentEncoded: false)) }
    guard old?[.type] as? FileAttributeType == .typeRegular, let mode = old?[.posixPermissions] as? Int else {
      return permissionsOfNew
    }
    return UInt16(truncatingIfNeeded: mode & 0o777)
  }
}
