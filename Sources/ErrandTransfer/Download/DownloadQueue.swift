public import ErrandCore
import ErrandSupport

/// Downloads that wait for one another: so many at a time, in the order they came.
///
/// ```swift
/// let queue = DownloadQueue(client, width: 2)
/// let films = ids.map { queue.add(GetFilm(id: $0, file: folder.appending(path: "\($0).mp4"))) }
/// for film in films { print(try await film.value().url) }
/// ```
///
/// Those that are under way or wait go on to their end though nobody holds the queue; paused ones are held by it.
public final class DownloadQueue: Sendable {
  private struct State: Sendable {
    var running = 0
    var waiting: [DownloadCall] = []
    /// All that have not ended, in the order they were added.
    var members: [DownloadCall] = []
  }

  /// How many run at a time.
  public let width: Int
  private let client: APIClient
  private let state = Locked(State())

  /// Makes a queue.
  /// - Parameters:
  ///   - client: Who carries the downloads out.
  ///   - width: How many run at a time; at least one.
  public init(_ client: APIClient, width: Int = 3) {
    self.client = client
    self.width = max(width, 1)
  }

  /// Those that have not ended, in the order they were added.
  public var downloads: [DownloadCall] { state.withLock { $0.members } }

  /// Adds a download; it starts once there is room.
  @discardableResult
  public func add<R: APIRequest>(_ request: R, options: CallOptions = CallOptions()) -> DownloadCall
  where R.Response == DownloadedFile {
    let download = DownloadCall(client, request, options, in: self)
    state.withLock { $0.members.append(download) }
    download.resume()
    return download
  }

  /// Pauses all. Returns when their files are closed.
  public func pauseAll() async {
    // Those that wait come first, so that none takes the place of one that stops.
    for download in downloads.reversed() where download.phase == .queued { await download.pause() }
    await withTaskGroup { group in
      for download in downloads { group.addTask { await download.pause() } }
    }
  }

  /// Goes on with all that are paused, in the order they were added.
  public func resumeAll() { for download in downloads { download.resume() } }

  /// Cancels all. Returns when their files are closed and, unless they are kept, their parts are gone.
  public func cancelAll(keepingParts keepsParts: Bool = true) async {
    for download in downloads.reversed() where download.phase == .queued { await download.pause() }
    await withTaskGroup { group in
      for download in downloads { group.addTask { await download.cancel(keepingPart: keepsParts) } }
    }
  }

  // MARK: - What downloads ask for

  func enqueue(_ download: DownloadCall) {
    state.withLock { $0.waiting.append(download) }
    startNext()
  }

  /// One that waited does not want to any more.
  func leave(_ download: DownloadCall) { state.withLock { $0.waiting.removeAll { $0 === download } } }

  /// A place is free.
  func release() {
    state.withLock { $0.running -= 1 }
    startNext()
  }

  /// One has ended.
  func forget(_ download: DownloadCall) { state.withLock { $0.members.removeAll { $0 === download } } }

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
