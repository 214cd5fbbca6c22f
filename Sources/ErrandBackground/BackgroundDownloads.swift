public import ErrandCore
package import ErrandTransfer
public import Foundation

/// Downloads that continue while the app is suspended and after it has ended, because a session of the system performs
/// them.
///
/// ```swift
/// let downloads = BackgroundDownloads(client, over: session, in: folder, checkedBy: .standard) { ending in
///   await library.note(ending.tag, ending.result)
/// }
/// let film = try await downloads.start(GetFilm(id: 7, file: file), tag: "film-7")
/// ```
///
/// Create one instance at every launch, before anything else, with the same folder and a session of the same name. The
/// instance continues the transfers of earlier runs of the app and reports how they ended. The session retains the
/// internal state of the instance, so events are handled even if the app releases the instance.
///
/// A request passes all interceptors of the client, so that it gets its credentials, cookies and signature when it is
/// handed over. After that, the system controls the request: the system follows redirects by its own rules, resumes the
/// body after a broken connection, and keeps the request, including its credentials, in its own store. The files that
/// this library writes contain neither the URL nor the fields. The result is validated as for other downloads (status,
/// content type, length, checksum), and the file is moved to its target in one step.
///
/// | property of ``ErrandCore/Download`` | effect |
/// |---|---|
/// | target, `replaces`, `permissions`, `checksum`, `digests`, `resource` | used as for other downloads |
/// | `resumes`, `takeUps`, `parallel` | ignored; the system resumes by its own rules, and only within one download |
/// | `maximumBytes`, `acceptsExisting` | ignored; the system receives the bytes, and each start hands a request over |
/// | `bytesPerSecond`, `bandwidth`, `freshURL`, `whenBusy` other than `.fail` | rejected |
public final class BackgroundDownloads: Sendable {
  private let client: APIClient
  private let engine: BackgroundEngine<BackgroundDownloadWork>

  /// Loads the saved records of downloads that earlier runs of the app started, and starts to receive the events of the
  /// session.
  ///
  /// - Parameters:
  ///   - client: The client that builds the requests.
  ///   - session: The session that performs the requests. No other object may use it.
  ///   - folder: The folder for the saved records and for downloaded files that are not checked yet. No other object
  ///     may use the folder. The folder is created if it is missing, and must be on the same file system as the
  ///     targets. It is made private (mode 0700), and rejected if another user owns it or could replace it. Removing
  ///     the folder loses all transfers in progress.
  ///   - algorithms: The digest algorithms for checksums and for the server's digests, usually `.standard` of the
  ///     product `ErrandChecksum`.
  ///   - onEnd: Called in a separate task for each download that has ended, including downloads that an earlier run of
  ///     the app started. The call is awaited. If the process ends before the call returns, the next run of the app
  ///     reports the end of the download again.
  public convenience init(
    _ client: APIClient, over session: any BackgroundSession, in folder: URL,
    checkedBy algorithms: [DigestAlgorithm] = [],
    onEnd: @escaping @Sendable (BackgroundDownload.Ending) async -> Void
  ) {
    self.init(
      client, over: session, in: folder, checkedBy: algorithms, files: SystemFiles(), home: NSHomeDirectory(),
      onEnd: onEnd)
  }

  /// Makes an instance for tests, with a given file system and home folder.
  package init(
    _ client: APIClient, over session: any BackgroundSession, in folder: URL, checkedBy algorithms: [DigestAlgorithm],
    files: any TransferFiles, home: String, onEnd: @escaping @Sendable (BackgroundDownload.Ending) async -> Void
  ) {
    self.client = client
    let work = BackgroundDownloadWork(algorithms: algorithms, home: home)
    let engine = BackgroundEngine(work, session, BackgroundFolder(folder, files)) { id, tag, result in
      await onEnd(.init(id: id, tag: tag, result: result))
    }
    self.engine = engine
    engine.beginning()
  }

  /// Hands a download over to the system. If the same download is already in progress, returns the handle of that
  /// download, which keeps the tag that it was started with.
  ///
  /// This method has no call options, because the system would not observe a deadline or a priority.
  /// - Throws: ``ErrandCore/APIError`` if the request cannot be built or handed over; with the code
  ///   ``ErrandCore/APIError/Code/busy`` if another download uses the same target, and with
  ///   ``ErrandCore/APIError/Code/fileExists`` if the target exists and must not be replaced.
  public func start<R: APIRequest>(
    _ request: R, tag: String? = nil
  ) async throws(APIError) -> BackgroundDownload where R.Response == DownloadedFile {
    try await engine.begin()
    let order = try await BackgroundDownloadHandOver(request, by: client)
    return try await engine.start(order, tag: tag)
  }

  /// The downloads that have not ended, including downloads that an earlier run of the app started.
  public var running: [BackgroundDownload] {
    get async {
      try? await engine.begin()
      return engine.running
    }
  }

  /// Waits until the system has reported all events that occurred while the app was suspended, and until `onEnd` has
  /// returned for each download that ended. Await this method when the system wakes the app for its session, and then
  /// call the completion handler of the system. If the task is cancelled, this method returns at once.
  public func eventsHandled() async { await engine.eventsHandled() }
}

/// A download that the system performs, whether or not the app is running.
///
/// The download continues even if the app keeps no reference to this handle. The end of the download is reported to the
/// `onEnd` closure of ``BackgroundDownloads`` and to the callers of ``value()``.
public final class BackgroundDownload: Sendable, Identifiable {
  /// The result of a background download that has ended.
  public struct Ending: Sendable {
    /// The download's ``BackgroundDownload/id``.
    public let id: String
    /// The app's own name for the download, as it was passed to ``BackgroundDownloads/start(_:tag:)``; nil if no tag
    /// was passed.
    public let tag: String?
    /// The downloaded file at its target path, or the error if the download failed.
    public let result: Result<DownloadedFile, APIError>
  }

  /// The identifier of the download, unique among all downloads. It stays the same when the app is launched again.
  public var id: String { wait.id }
  /// The app's own name for the download, as it was passed to ``BackgroundDownloads/start(_:tag:)``; nil if no tag was
  /// passed.
  public var tag: String? { wait.tag }
  /// The progress of the download. A slow reader gets only the newest report. Nothing is reported for the time in which
  /// the app did not run. The stream finishes when the download ends. Only one task may read the stream.
  public var progress: AsyncStream<TransferProgress> { wait.progress }

  let wait: BackgroundWait<DownloadedFile>

  init(_ wait: BackgroundWait<DownloadedFile>) { self.wait = wait }

  /// Cancels the download and deletes the received bytes. Has no effect after the system has delivered the complete
  /// file.
  public func cancel() { wait.cancel() }

  /// Waits until the downloaded file is at its target path, and returns the file.
  /// - Throws: ``ErrandCore/APIError`` if the download failed or was cancelled. If the waiting task is cancelled, this
  ///   method throws too, but the download continues.
  public func value() async throws(APIError) -> DownloadedFile { try await wait.value() }
}

extension BackgroundDownload: BackgroundHandle {}

extension BackgroundEngine where Work == BackgroundDownloadWork {
  func start(_ order: BackgroundDownloadHandOver, tag: String?) async throws(APIError) -> BackgroundDownload {
    let wanted = try order.record(id: UUID().uuidString.lowercased(), tag: tag, home: work.home)
    do {
      return try await queue.value { try self.handOver(order, wanted) }
    } catch {
      throw Self.error(error)
    }
  }

  private func handOver(
    _ order: BackgroundDownloadHandOver, _ wanted: BackgroundDownloadState
  ) throws -> BackgroundDownload {
    let target = wanted.target.path(home: work.home)
    switch BackgroundDecision.handOver(wanted, among: records) {
    case .join(let id): if let handle = handle(id) { return handle }
    case .replace(let id): lose(id)
    case .busy:
      throw FileFailure(
        .open, target, .busy, detail: "another background download uses the same target; wait until that download ends")
    case .start: break
    }
    if !order.download.replaces, !order.download.isNamedByServer, try folder.files.status(at: target) != nil {
      throw FileFailure(.open, target, .exists, detail: "the file already exists, and the download does not replace it")
    }
    guard try folder.canPlace(at: target) else {
      throw FileFailure(
        .rename, target, .other, detail: "the target is not on the file system of the folder for background downloads")
    }
    if !order.download.isNamedByServer { try PartFile.check(target, folder.files) }
    for name in wanted.digests + [wanted.checksum?.algorithm].compactMap({ $0 }) {
      _ = try BackgroundCheck.algorithm(name, in: work.algorithms)
    }
    return try launch(
      wanted, BackgroundOrder(name: wanted.id, request: order.request, network: order.network))
  }
}
