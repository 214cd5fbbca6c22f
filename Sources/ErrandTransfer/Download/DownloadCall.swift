public import ErrandCore
import ErrandSupport

/// A download that was started: it can be paused, taken up again, and cancelled with or without its part.
///
/// Each stretch between two pauses is a call of its own: with its accessories, its deadline, its number. The download
/// lives to its end though nobody holds the handle; a paused one only as long as somebody does.
public final class DownloadCall: Sendable {
  /// Where the download stands.
  public enum Phase: Sendable, Hashable, CaseIterable {
    /// A call is under way.
    case running
    /// The call is being ended; the part is kept.
    case pausing
    /// Nothing is under way. ``resume()`` goes on.
    case paused
    /// The file is there, or the download failed or was cancelled.
    case ended
  }

  private struct State: Sendable {
    var phase = Phase.paused
    var call: Call?
    var result: Result<DownloadedFile, APIError>?
    var keepsPart = true
    /// Those who wait for the end of the present call.
    var waiting: [UnsafeContinuation<Void, Never>] = []
    /// Those who wait for the end of the download.
    var waitingForEnd: [UnsafeContinuation<Void, Never>] = []
  }

  /// How far the download is: the newest report, those in between dropped for a reader who is slow. Ends with the
  /// download; for one reader.
  public let progress: AsyncStream<TransferProgress>

  private let report: AsyncStream<TransferProgress>.Continuation
  private let begin: @Sendable (DownloadCall) -> Call
  private let discard: @Sendable () async throws -> Void
  private let state = Locked(State())

  init<R: APIRequest>(_ client: APIClient, _ request: R, _ options: CallOptions) where R.Response == DownloadedFile {
    (progress, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    begin = { [report] download in
      client.start(
        request, on: .inPlace, options: options, onSuccess: { download.finished(.success($0)) },
        onFailure: { download.finished(.failure($0)) }, onProgress: { report.yield($0) })
    }
    discard = { try await InterruptedDownload.removePart(of: request, client) }
  }

  deinit { report.finish() }

  /// Where the download stands.
  public var phase: Phase { state.withLock { $0.phase } }

  /// Goes on after a pause. No effect in any other phase.
  public func resume() {
    let begins = state.withLock { state in
      guard state.phase == .paused else { return false }
      state.phase = .running
      return true
    }
    guard begins else { return }
    let call = begin(self)
    let isUnwanted = state.withLock { state in
      state.call = call
      return state.phase != .running
    }
    if isUnwanted { call.cancel() }
  }

  /// Ends the call that is under way and keeps the part. Returns when the file is closed. No effect on a download that
  /// has ended; where the file was whole already, the download ends with it.
  public func pause() async { await stop(as: .pausing) }

  /// Ends the download. Returns when the file is closed and, unless it is kept, the part is gone. A download that has
  /// ended with a file keeps that.
  public func cancel(keepingPart keepsPart: Bool = true) async {
    state.withLock { if !keepsPart { $0.keepsPart = false } }
    await stop(as: .ended)
    let isCancelled = state.withLock { state -> Bool in
      if state.phase == .paused { state.phase = .ended }
      if state.result == nil { state.result = .failure(.downloadCancelled) }
      if case .failure = state.result { return !state.keepsPart }
      return false
    }
    if isCancelled { try? await discard() }
    end()
  }

  /// The file, once it is there; a cancel of the task that waits does not end the download.
  public func value() async throws(APIError) -> DownloadedFile {
    await withUnsafeContinuation { continuation in
      let isOver = state.withLock { state in
        if state.result != nil && state.phase == .ended { return true }
        state.waitingForEnd.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
    let result = state.withLock { $0.result } ?? .failure(.downloadCancelled)
    return try result.get()
  }

  /// Ends the call that is under way, if one is, and waits until it is over.
  private func stop(as phase: Phase) async {
    await withUnsafeContinuation { continuation in
      let (call, isOver) = state.withLock { state -> (Call?, Bool) in
        guard state.phase == .running || state.phase == .pausing else { return (nil, true) }
        if state.phase == .running || phase == .ended { state.phase = .pausing }
        state.waiting.append(continuation)
        return (state.call, false)
      }
      call?.cancel()
      if isOver { continuation.resume() }
    }
  }

  /// A call is over.
  private func finished(_ result: Result<DownloadedFile, APIError>) {
    let waiting = state.withLock { state -> [UnsafeContinuation<Void, Never>] in
      state.call = nil
      if state.phase == .pausing, case .failure(let error) = result, error.isCancelled {
        state.phase = .paused
      } else {
        state.phase = .ended
        state.result = result
      }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
    if phase == .ended { end() }
  }

  private func end() {
    report.finish()
    let waiting = state.withLock { state in
      defer { state.waitingForEnd = [] }
      return state.waitingForEnd
    }
    for continuation in waiting { continuation.resume() }
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
  /// - Parameter url: A path below the base URL, or an absolute URL.
  public func download(_ url: String, _ download: Download, options: CallOptions = CallOptions()) -> DownloadCall {
    self.download(FileDownload(url, download), options: options)
  }
}
