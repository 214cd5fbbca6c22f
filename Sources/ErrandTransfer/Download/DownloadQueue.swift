public import ErrandCore
import ErrandSupport

/// Downloads that take turns: a limited number runs at a time, in the order in which they were added.
///
/// ```swift
/// let queue = DownloadQueue(client, width: 2)
/// let films = ids.map { queue.add(GetFilm(id: $0, file: folder.appending(path: "\($0).mp4"))) }
/// for film in films { print(try await film.value().url) }
/// ```
///
/// Running and waiting downloads continue to their end even if the caller keeps no reference to the queue. A paused
/// download is kept only as long as the queue or the caller refers to it.
public final class DownloadQueue: Sendable {
  private struct State: Sendable {
    var running = 0
    var waiting: [DownloadCall] = []
    /// The downloads that have not ended, in the order in which they were added.
    var members: [DownloadCall] = []
    var tally = QueueTally()
    var lastReader = 0
    /// Notify the streams of ``DownloadQueue/progress``, by their numbers.
    var readers: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  /// The number of downloads that run at a time.
  package let width: Int
  private let client: APIClient
  private let state = Locked(State())

  /// Makes a queue.
  /// - Parameters:
  ///   - client: The client that performs the downloads.
  ///   - width: The number of downloads that run at a time; at least one.
  public init(_ client: APIClient, width: Int = 3) {
    self.client = client
    self.width = max(width, 1)
  }

  /// The downloads that have not ended, in the order in which they were added.
  public var downloads: [DownloadCall] { state.withLock { $0.members } }

  /// The progress of all downloads that were added to the queue. Each read of the stream returns the present state as
  /// soon as it has changed; the first read returns it at once. The stream finishes when all downloads have ended.
  /// Several tasks may read the progress, each with a stream of its own.
  public var progress: AsyncStream<DownloadQueueProgress> {
    let (changes, reader) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state -> Int? in
      if state.members.isEmpty { return nil }
      state.lastReader += 1
      state.readers[state.lastReader] = reader
      return state.lastReader
    }
    reader.yield()
    if let number {
      reader.onTermination = { [weak self] _ in self?.removeReader(number) }
    } else {
      reader.finish()
    }
    // The state is read when the reader asks for it, so that no reader gets an older state after a newer one.
    return AsyncStream(unfolding: {
      for await _ in changes { return self.state.withLock { $0.tally.progress } }
      return nil
    })
  }

  private func removeReader(_ number: Int) { state.withLock { $0.readers[number] = nil } }

  /// Adds a download. The download starts when fewer downloads are running than the width of the queue.
  @discardableResult
  public func add<R: APIRequest>(_ request: R, options: CallOptions = CallOptions()) -> DownloadCall
  where R.Response == DownloadedFile {
    let download = DownloadCall(client, request, options, in: self)
    change { state in
      state.members.append(download)
      state.tally.add(ObjectIdentifier(download))
    }
    download.resume()
    return download
  }

  /// Pauses all downloads. Returns when their files are closed.
  public func pauseAll() async { await stopAll { await $0.pause() } }

  /// Resumes all paused downloads, in the order in which they were added.
  public func resumeAll() { for download in downloads { download.resume() } }

  /// Cancels all downloads, also those that wait, and keeps or removes their partial files. Returns when the files are
  /// closed.
  ///
  /// Call this function before ``ErrandCore/APIClient/cancelAll()``, which cancels only the running downloads; the
  /// waiting ones then start.
  public func cancelAll(keepingParts keepsParts: Bool = true) async {
    await stopAll { await $0.cancel(keepingPart: keepsParts) }
  }

  private func stopAll(_ stop: @escaping @Sendable (DownloadCall) async -> Void) async {
    // Pause the waiting downloads first, so that no waiting download starts when a running download stops.
    for download in downloads.reversed() where download.phase == .queued { await download.pause() }
    await withTaskGroup { group in
      for download in downloads { group.addTask { await stop(download) } }
    }
  }

  // MARK: - Requests of downloads

  func enqueue(_ download: DownloadCall) {
    state.withLock { $0.waiting.append(download) }
    startNext()
  }

  /// Removes a download from the list of waiting downloads, because the download was paused or cancelled.
  func leave(_ download: DownloadCall) { state.withLock { $0.waiting.removeAll { $0 === download } } }

  /// Called when a running download has stopped. Starts the next waiting download.
  func release() {
    state.withLock { $0.running -= 1 }
    startNext()
  }

  /// Called when a download of the queue has made progress.
  func report(_ download: DownloadCall, _ progress: TransferProgress) {
    change { $0.tally.report(ObjectIdentifier(download), progress) }
  }

  /// Called when a download has ended. `bytes` is the length of its file; nil if it failed or was cancelled.
  func forget(_ download: DownloadCall, bytes: Int64?) {
    change { state in
      state.members.removeAll { $0 === download }
      state.tally.end(ObjectIdentifier(download), bytes: bytes)
    }
  }

  /// Changes the progress of the queue, and notifies its readers.
  private func change(_ change: (inout State) -> Void) {
    let (readers, isOver) = state.withLock { state -> ([AsyncStream<Void>.Continuation], Bool) in
      change(&state)
      let readers = Array(state.readers.values)
      if state.members.isEmpty { state.readers = [:] }
      return (readers, state.members.isEmpty)
    }
    for reader in readers {
      reader.yield()
      if isOver { reader.finish() }
    }
  }

  private func startNext() {
    while let next = takeNext() {
      if !next.start() { state.withLock { $0.running -= 1 } }
    }
  }

  private func takeNext() -> DownloadCall? {
    state.withLock { state in
      guard state.running < width, !state.waiting.isEmpty else { return nil }
      state.running += 1
      return state.waiting.removeFirst()
    }
  }
}

/// The progress of all downloads that were added to a ``DownloadQueue``.
public struct DownloadQueueProgress: Sendable, Hashable {
  /// The number of downloads that have ended, with success or failure.
  public let finished: Int
  /// The number of all downloads that were added to the queue.
  public let total: Int
  /// The number of bytes of all files so far, including bytes of earlier calls and files that already existed. It
  /// decreases only if a download starts over. A failed download counts with the bytes that it had reached.
  public let bytes: Int64
  /// The number of bytes of all files together. Nil while the length of a file is unknown, for example because its
  /// download has not started.
  public let totalBytes: Int64?

  /// The fraction of downloads that have ended, 0 to 1; nil if no download was added.
  public var fraction: Double? { total > 0 ? Double(finished) / Double(total) : nil }
}

/// Adds up the progress of the downloads of a queue.
struct QueueTally: Sendable {
  private struct Size: Sendable {
    var bytes: Int64 = 0
    var total: Int64?
  }

  /// The last reported sizes of the downloads that have not ended.
  private var sizes: [ObjectIdentifier: Size] = [:]
  private var finished = 0
  private var finishedBytes: Int64 = 0

  mutating func add(_ download: ObjectIdentifier) { sizes[download] = Size() }

  /// Notes a progress report of a download. A report after the end of the download has no effect.
  mutating func report(_ download: ObjectIdentifier, _ progress: TransferProgress) {
    guard sizes[download] != nil else { return }
    sizes[download] = Size(bytes: progress.bytes, total: progress.total)
  }

  /// Notes the end of a download. `bytes` is the length of its file; nil if the download failed or was cancelled. Only
  /// the first end counts.
  mutating func end(_ download: ObjectIdentifier, bytes: Int64?) {
    guard let size = sizes.removeValue(forKey: download) else { return }
    finished += 1
    // Servers may announce any length.
    finishedBytes = finishedBytes.saturatingSum(bytes ?? size.bytes)
  }

  var progress: DownloadQueueProgress {
    var bytes = finishedBytes
    var total: Int64? = finishedBytes
    for size in sizes.values {
      bytes = bytes.saturatingSum(size.bytes)
      if let known = total, let next = size.total { total = known.saturatingSum(next) } else { total = nil }
    }
    return DownloadQueueProgress(
      finished: finished, total: finished + sizes.count, bytes: bytes, totalBytes: total)
  }
}
