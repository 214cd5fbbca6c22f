public import ErrandCore
import ErrandSupport

/// A download that was started. It can be paused, resumed and cancelled. A cancellation keeps or removes the partial
/// file.
///
/// Each period between two pauses is a separate call with its own call number, accessories and deadline. A running
/// download continues to its end even if the caller keeps no reference to it. A paused download exists only as long as
/// the caller or its queue refers to it.
public final class DownloadCall: Sendable {
  /// The phase of the download.
  public enum Phase: Sendable, Hashable, CaseIterable {
    /// The download waits for its turn in a ``DownloadQueue``.
    case queued
    /// A call of the client is performing the download.
    case running
    /// The download is being paused: its call is stopping. The partial file is kept.
    case pausing
    /// The download is paused, and no call is performing it. ``DownloadCall/resume()`` continues the download.
    case paused
    /// The download has ended: the file is complete, or the download failed or was cancelled.
    case ended
  }

  private struct State: Sendable {
    var phase = Phase.paused
    /// Whether the caller has cancelled the download. A cancelled download cannot be resumed, even before it has ended.
    var isCancelled = false
    var call: Call?
    /// The queue of the download while the download waits or runs; otherwise nil. This reference keeps the queue alive.
    var queue: DownloadQueue?
    var result: Result<DownloadedFile, APIError>?
    /// The callers of `pause()` and `cancel()` that wait until the present call of the download has ended.
    var waiting: [UnsafeContinuation<Void, Never>] = []
    /// The number of the download's present call. Each resumption after a pause starts another call with the next
    /// number.
    var stretch: UInt64 = 0
  }

  /// The progress of the download. A slow reader gets only the newest report. The stream finishes when the download
  /// ends. Only one task may read the stream.
  public let progress: AsyncStream<TransferProgress>

  private let feed: ProgressFeed
  private let begin: @Sendable (DownloadCall) -> Call
  private let discard: @Sendable () async throws -> Void
  private weak let home: DownloadQueue?
  private let state = Locked(State())
  private let ending = TransferEnd<DownloadedFile>()

  init<R: APIRequest>(
    _ client: APIClient, _ request: R, _ options: CallOptions, in queue: DownloadQueue? = nil
  ) where R.Response == DownloadedFile {
    let feed = ProgressFeed()
    self.feed = feed
    progress = feed.reports
    home = queue
    var options = options
    options.requiredAccount = client.accountToRequire
    let sent = Locked<Set<SentDownload>>([])
    options.noteDownload = { download in sent.withLock { _ = $0.insert(download) } }
    begin = { [options] download in
      client.start(
        request, on: .inPlace, options: options, onSuccess: { download.finished(.success($0)) },
        onFailure: { download.finished(.failure($0)) }, onProgress: { download.reported($0) })
    }
    discard = { [options] in
      try await InterruptedDownload.removePart(of: request, client, options, sent: sent.withLock { $0 })
    }
  }

  deinit { feed.finish() }

  /// The phase of the download.
  public var phase: Phase { state.withLock { $0.phase } }

  // MARK: - Resuming

  /// Continues the download after a pause. A download in a queue waits for its turn. This method has no effect if the
  /// download is not paused, or if it was cancelled.
  public func resume() {
    let home = home
    let isPaused = state.withLock { state in
      guard state.phase == .paused, !state.isCancelled else { return false }
      state.phase = .queued
      state.queue = home
      return true
    }
    guard isPaused else { return }
    if let home { home.enqueue(self) } else { start() }
  }

  /// Starts the next call of a download that waits in a queue. Returns false if the download is no longer queued.
  @discardableResult
  func start() -> Bool {
    let begun = state.withLock { state -> UInt64? in
      guard state.phase == .queued else { return nil }
      state.phase = .running
      state.stretch &+= 1
      return state.stretch
    }
    guard let begun else { return false }
    let call = begin(self)
    let isUnwanted = state.withLock { state in
      // The download may have been paused and started again while `begin` ran. In this case, a newer call has replaced
      // the call that `begin` returned.
      guard state.stretch == begun else { return false }
      if state.phase == .running || state.phase == .pausing { state.call = call }
      return state.phase == .pausing
    }
    if isUnwanted { call.cancel() }
    return true
  }

  // MARK: - Stopping

  /// Stops the call in progress and keeps the partial file. Returns when the file is closed. Has no effect on a
  /// download that has ended. If the file was already complete, the download ends successfully.
  public func pause() async { await stop() }

  /// Cancels the download, and keeps or removes its partial file. Returns when the file is closed. A download that has
  /// already ended keeps its result. If `keepingPart` is false, the partial file is removed even if the download has
  /// already failed, unless the file belongs to another request with the same target.
  public func cancel(keepingPart keepsPart: Bool = true) async {
    state.withLock { $0.isCancelled = true }
    await stop()
    let hasFile = state.withLock { state in
      state.phase = .ended
      if state.result == nil { state.result = .failure(.downloadCancelled) }
      if case .success = state.result { return true }
      return false
    }
    if !keepsPart, !hasFile { try? await discard() }
    end()
  }

  /// Stops the present call of the download, if there is one, and waits until the call has ended.
  private func stop() async {
    await withUnsafeContinuation { continuation in
      let (call, isOver) = state.withLock { state -> (Call?, Bool) in
        switch state.phase {
        case .queued:
          state.phase = .paused
          // Leave the download queue while the lock is held. A concurrent `resume()` then enters the queue only after
          // the download has left it.
          state.queue.take()?.leave(self)
          return (nil, true)
        case .running, .pausing:
          state.phase = .pausing
          state.waiting.append(continuation)
          return (state.call, false)
        case .paused, .ended: return (nil, true)
        }
      }
      call?.cancel()
      if isOver { continuation.resume() }
    }
  }

  // MARK: - The end

  /// Waits for the file. Cancelling the waiting task ends the wait but not the download.
  /// - Throws: ``ErrandCore/APIError`` if the download failed or was cancelled, or if the waiting task was cancelled.
  public func value() async throws(APIError) -> DownloadedFile { try await ending.value(of: "download") }

  private func finished(_ result: Result<DownloadedFile, APIError>) {
    let (waiting, queue) = state.withLock { state in
      state.call = nil
      switch result {
      case .failure(let error) where error.isCancelled && state.phase == .pausing:
        // If the file was already complete when the call was stopped, the error contains the file, and the download has
        // succeeded.
        let file = error.response?.file
        state.phase = file == nil ? .paused : .ended
        state.result = file.map { .success($0) }
      default:
        state.phase = .ended
        state.result = result
      }
      defer { state.waiting = [] }
      return (state.waiting, state.queue.take())
    }
    queue?.release()
    for continuation in waiting { continuation.resume() }
    if phase == .ended { end() }
  }

  private func reported(_ progress: TransferProgress) {
    feed.yield(progress)
    if progress.direction == .download { home?.report(self, progress) }
  }

  private func end() {
    feed.finish()
    let result = state.withLock { $0.result } ?? .failure(.downloadCancelled)
    home?.forget(self, bytes: (try? result.get())?.bytes)
    ending.set(result)
  }
}

extension APIError {
  fileprivate static let downloadCancelled = APIError(.cancelled, .cancelled, "The download was cancelled.")
}

extension APIClient {
  /// Starts a download that can be paused.
  ///
  /// ```swift
  /// let download = client.download(GetFilm(id: 7, file: file))
  /// for await progress in download.progress { show(progress) }
  /// let film = try await download.value()
  /// ```
  public func download<R: APIRequest>(_ request: R, options: CallOptions = CallOptions()) -> DownloadCall
  where R.Response == DownloadedFile {
    let download = DownloadCall(self, request, options)
    download.resume()
    return download
  }

  /// Starts a download of a URL, which can be paused.
  /// - Parameters:
  ///   - url: A path below the base URL, or an absolute URL.
  ///   - download: The target and the options of the download.
  ///   - options: The options of each call of the download.
  public func download(_ url: String, _ download: Download, options: CallOptions = CallOptions()) -> DownloadCall {
    self.download(FileDownload(url, download), options: options)
  }
}

/// A request that downloads one URL into a file. Use it for downloads that need no separate request type.
///
/// ```swift
/// let file = try await client.send(FileDownload("https://example.com/big.iso", .into(downloads)))
/// ```
public struct FileDownload: APIRequest {
  /// The type of the result: the downloaded file.
  public typealias Response = DownloadedFile

  /// A path below the client's base URL, or an absolute URL.
  public var path: Path
  /// The target and the options of the download.
  public var download: Download?
  /// The header fields of the request.
  public var headers = RequestHeaders()
  /// The credential of the request. By default, the client's credential is used.
  public var credential = RequestCredential.inherited
  /// All calls run: requests of this type have nothing in common.
  public var overlap: Overlap { Overlap(repeats: .runAll) }

  /// Makes a request.
  /// - Parameters:
  ///   - url: A path below the client's base URL, or an absolute URL.
  ///   - download: The target and the options of the download.
  public init(_ url: String, _ download: Download) {
    path = RequestPath(url)
    self.download = download
  }
}
