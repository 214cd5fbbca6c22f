public import ErrandCore
public import Foundation

/// Downloads that go on while the app is suspended, and after it has ended: handed over to a session of the system's.
///
/// ```swift
/// let downloads = BackgroundDownloads(client, over: session, in: folder, checkedBy: .standard) { ending in
///   await library.note(ending.tag, ending.result)
/// }
/// let film = try await downloads.start(GetFilm(id: 7, file: file), tag: "film-7")
/// ```
///
/// Make one at every launch, before anything else, with the same folder and a session of the same name: it takes up what
/// an earlier run of the app has left, and tells how it ended. It lives as long as its session.
///
/// A request passes the whole line of the client, so it gets credential, cookies and signature when it is handed over.
/// From there on it is the system's: that follows redirects by its own rules, takes the body up again after a break,
/// and keeps the request, credential included, in its own store. What this library writes down names neither URL nor
/// fields. What comes is checked as for other downloads (status, content type, length, checksum), and the file gets its
/// name in one step.
///
/// | of ``ErrandCore/Download`` | |
/// |---|---|
/// | place, `replaces`, `permissions`, `checksum`, `digests`, `resource` | honoured |
/// | `resumes`, `takeUps`, `parallel` | the system's; it goes on within one download only |
/// | `bytesPerSecond`, `bandwidth`, `freshURL`, `whenBusy` other than `.fail` | refused |
public final class BackgroundDownloads: Sendable {
  private let client: APIClient
  private let engine: BackgroundEngine<BackgroundDownloadWork>

  /// Takes up what is under way and begins to listen.
  ///
  /// - Parameters:
  ///   - client: Who builds the requests.
  ///   - session: Who carries them out; for this object alone.
  ///   - folder: Where it is noted what is under way, and where files lie until they are checked: for this object alone,
  ///     made if it is missing, and in the file system of the targets. Removing it loses what is under way.
  ///   - algorithms: What checksums and the server's digests are checked by; `.standard` of the product `ErrandChecksum`.
  ///   - onEnd: Told each end, in a task of its own, also of downloads that an earlier run has started. Awaited; where
  ///     the process ends before it has returned, the next run tells the end once more.
  public convenience init(
    _ client: APIClient, over session: any BackgroundSession, in folder: URL,
    checkedBy algorithms: [DigestAlgorithm] = [],
    onEnd: @escaping @Sendable (BackgroundDownload.Ending) async -> Void
  ) {
    self.init(
      client, over: session, in: folder, checkedBy: algorithms, files: SystemFiles(), home: NSHomeDirectory(),
      onEnd: onEnd)
  }

  /// The same over a file system of the caller's and with another home folder, for tests.
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

  /// Hands a download over. Where the same one is under way already, that one is meant, tag included.
  ///
  /// Options of a call have no part in it: a deadline or a priority would not reach the system.
  /// - Throws: ``ErrandCore/APIError``: where the request cannot be built or handed over, with the code
  ///   ``ErrandCore/APIError/Code/busy`` where another download has the same target, and with
  ///   ``ErrandCore/APIError/Code/fileExists`` where the target is there and must stay.
  public func start<R: APIRequest>(
    _ request: R, tag: String? = nil
  ) async throws(APIError) -> BackgroundDownload where R.Response == DownloadedFile {
    try await engine.begin()
    let order = try await BackgroundDownloadHandOver(request, by: client)
    return try await engine.start(order, tag: tag)
  }

  /// Those that have not ended, whichever run started them.
  public var running: [BackgroundDownload] {
    get async {
      try? await engine.begin()
      return engine.running
    }
  }

  /// Returns when the system has told all that happened while the app was suspended, and every end was told. For the
  /// place where the system wakes the app for its session: what is done there ends with this. Where the task is
  /// cancelled, it returns at once.
  public func settled() async { await engine.settled() }
}
