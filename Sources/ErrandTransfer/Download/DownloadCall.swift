public import ErrandCore
import ErrandSupport

/// A download that was started: it can be paused, taken up again, and cancelled with or without its part.
///
/// Each stretch between two pauses is a call of its own: with its accessories, its deadline, its number. The download
/// lives to its end though nobody holds the handle; a paused one only as long as somebody does, or its queue.
public final class DownloadCall: Sendable {
  /// Where the download stands.
  public enum Phase: Sendable, Hashable, CaseIterable {
    /// It waits for its turn in a ``DownloadQueue``.
    case queued
    /// A call is under way.
    case running
    /// The call is being ended; the part is kept.
    case pausing
    /// Nothing is under way. ``DownloadCall/resume()`` goes on.
    case paused
    /// The file is there, or the download failed or was cancelled.
    case ended
  }

  private struct State: Sendable {
    var phase = Phase.paused
    /// Whether somebody cancels it: it is not taken up again, though it may still be about to end.
    var isCancelled = false
    var call: Call?
    /// The queue, held while it is needed.
    var queue: DownloadQueue?
    var result: Result<DownloadedFile, APIError>?
    /// Those who wait for the end of the present call.
    var waiting: [UnsafeContinuation<Void, Never>] = []
    /// Those who wait for the end of the download.
    var waitingForEnd: [Int: AsyncStream<Never>.Continuation] = [:]
    var lastWaiter = 0
    /// Which of its calls is the present one.
    var stretch: UInt64 = 0
  }

  /// How far the download is: the newest report, those in between dropped for a reader who is slow. Ends with the
  /// download; for one reader.
  public let progress: AsyncStream<TransferProgress>

  private let report: AsyncStream<TransferProgress>.Continuation
  private let begin: @Sendable (DownloadCall) -> Call
  private let discard: @Sendable () async throws -> Void
  private weak let home: DownloadQueue?
  private let state = Locked(State())

  init<R: APIRequest>(
    _ client: APIClient, _ request: R, _ options: CallOptions, in queue: DownloadQueue? = nil
  ) where R.Response == DownloadedFile {
    (progress, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    home = queue
    var options = options
    options.requiredAccount = client.presentAccount
    begin = { [report, options] download in
      client.start(
        request, on: .inPlace, options: options, onSuccess: { download.finished(.success($0)) },
        onFailure: { download.finished(.failure($0)) }, onProgress: { report.yield($0) })
    }
    discard = { try await InterruptedDownload.removePart(of: request, client) }
  }

  deinit { report.finish() }

  /// Where the download stands.
  public var phase: Phase { state.withLock { $0.phase } }

  // MARK: - Going on

  /// Goes on after a pause; in a queue, once its turn comes. No effect in any other phase, or once it is cancelled.
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

  /// Its turn has come. False where it does not want it any more.
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
      // It may have been paused and taken up again meanwhile: the later call is the present one.
      guard state.stretch == begun else { return false }
      if state.phase == .running || state.phase == .pausing { state.call = call }
      return state.phase == .pausing
    }
    if isUnwanted { call.cancel() }
    return true
  }

  // MARK: - Stopping

  /// Ends the call that is under way and keeps the part. Returns when the file is closed. No effect on a download that
  /// has ended; where the file was whole already, the download ends with it.
  public func pause() async { await stop() }

  /// Ends the download. Returns when the file is closed and, unless it is kept, the part is gone. A download that has
  /// ended keeps its end; a part that a failure has left is removed all the same.
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

  /// Ends the call that is under way, if one is, and waits until it is over.
  private func stop() async {
    await withUnsafeContinuation { continuation in
      let (call, isOver) = state.withLock { state -> (Call?, Bool) in
        switch state.phase {
        case .queued:
          state.phase = .paused
          // Within the lock: who resumes meanwhile waits in the queue anew.
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

  /// The file, once it is there. A cancel of the task that waits ends the wait and not the download.
  /// - Throws: why the download failed, or that it or the wait was cancelled.
  public func value() async throws(APIError) -> DownloadedFile {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    let waiter = state.withLock { state in
      state.lastWaiter += 1
      if state.phase == .ended { continuation.finish() } else { state.waitingForEnd[state.lastWaiter] = continuation }
      return state.lastWaiter
    }
    for await _ in stream {}
    let (phase, result) = state.withLock { state in
      state.waitingForEnd[waiter] = nil
      return (state.phase, state.result)
    }
    guard phase == .ended else {
      throw APIError(.cancelled, .cancelled, "The wait for the download was cancelled; the download goes on.")
    }
    return try (result ?? .failure(.downloadCancelled)).get()
  }

  /// A call is over.
  private func finished(_ result: Result<DownloadedFile, APIError>) {
    let (waiting, queue) = state.withLock { state in
      state.call = nil
      switch result {
      case .failure(let error) where error.isCancelled && state.phase == .pausing:
        // The file may have had its name already when the call was asked to stop.
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

  private func end() {
    report.finish()
    home?.forget(self)
    let waiting = state.withLock { state in
      defer { state.waitingForEnd = [:] }
      return state.waitingForEnd
    }
    for continuation in waiting.values { continuation.finish() }
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
  ///   - download: Where the file goes, and how careful the download is.
  ///   - options: What is chosen for its calls.
  public func download(_ url: String, _ download: Download, options: CallOptions = CallOptions()) -> DownloadCall {
    self.download(FileDownload(url, download), options: options)
  }
}
