public import ErrandCore
public import Foundation

/// Uploads that continue while the app is suspended and after it has ended, because a session of the system performs
/// them.
///
/// ```swift
/// let uploads = BackgroundUploads(client, over: session, in: folder) { ending in
///   await library.note(ending.tag, ending.result)
/// }
/// let film = try await uploads.start(SendFilm(id: 7, file: file), tag: "film-7")
/// ```
///
/// Create one instance at every launch, before anything else, with the same folder and a session of the same name. The
/// instance continues the transfers of earlier runs of the app and reports how they ended. The session retains the
/// internal state of the instance, so events are handled even if the app releases the instance.
///
/// A request passes all interceptors of the client, so that it gets its credentials, cookies and signature when it is
/// handed over. After that, the system controls the request: the system follows redirects by its own rules, sends the
/// body again if it must, and keeps the request, including its credentials, in its own store. The files that this
/// library writes contain neither the URL nor the fields of the request.
///
/// | body of the request | how it is sent |
/// |---|---|
/// | a whole file | sent from its place; the file must stay there unchanged until the upload ends |
/// | data, text, form, JSON, multipart, a part of a file, a compressed body, a replayable stream | written first into a file in the folder; only the user can access the file, and it is removed after the upload |
/// | none, a stream that can be read once, a body that waits for 100 Continue | rejected |
public final class BackgroundUploads: Sendable {
  private let client: APIClient
  private let engine: BackgroundEngine<BackgroundUploadWork>

  /// Loads the saved records of uploads that earlier runs of the app started, and starts to receive the events of the
  /// session.
  ///
  /// - Parameters:
  ///   - client: The client that builds the requests and decodes the responses.
  ///   - session: The session that performs the requests. No other object may use it, not even for downloads.
  ///   - folder: The folder for the saved records, and for request bodies and responses until the end of an upload.
  ///     The folder is created if it is missing. It is made private (mode 0700), and rejected if another user owns it
  ///     or could replace it. Removing the folder loses all transfers in progress.
  ///   - onEnd: Called in a separate task for each upload that has ended, including uploads that an earlier run of the
  ///     app started. The call is awaited. If the process ends before the call returns, the next run of the app reports
  ///     the end of the upload again.
  public convenience init(
    _ client: APIClient, over session: any BackgroundSession, in folder: URL,
    onEnd: @escaping @Sendable (BackgroundUpload.Ending) async -> Void
  ) {
    self.init(client, over: session, in: folder, files: SystemFiles(), home: NSHomeDirectory(), onEnd: onEnd)
  }

  /// Makes an instance for tests, with a given file system and home folder.
  package init(
    _ client: APIClient, over session: any BackgroundSession, in folder: URL, files: any TransferFiles, home: String,
    onEnd: @escaping @Sendable (BackgroundUpload.Ending) async -> Void
  ) {
    self.client = client
    let work = BackgroundUploadWork(client: client, home: home)
    let engine = BackgroundEngine(work, session, BackgroundFolder(folder, files)) { id, tag, result in
      await onEnd(.init(id: id, tag: tag, result: result, client: client))
    }
    self.engine = engine
    engine.beginning()
  }

  /// Hands an upload over to the system, and returns when the system has accepted it. Each call starts a new upload. If
  /// the upload may already be in progress, look for its tag in ``running`` first.
  ///
  /// This method has no call options, because the system would not observe a deadline or a priority.
  /// - Parameters:
  ///   - request: The request. The table in ``BackgroundUploads`` lists the bodies that it may have.
  ///   - tag: The app's own name for the upload.
  ///   - copiesFile: Whether a body that is a whole file is copied into the folder first, so that the app may change or
  ///     remove the original file at once.
  /// - Throws: ``ErrandCore/APIError`` if the request cannot be built, written or handed over. In this case no file is
  ///   left behind. Cancelling the task stops the writing of a body.
  public func start<R: APIRequest>(
    _ request: R, tag: String? = nil, copiesFile: Bool = false
  ) async throws(APIError) -> BackgroundUpload {
    try await engine.begin()
    let order = try await BackgroundUploadHandOver(request, by: client)
    return try await engine.start(order, copiesFile: copiesFile, tag: tag)
  }

  /// The uploads that have not ended, including uploads that an earlier run of the app started.
  public var running: [BackgroundUpload] {
    get async {
      try? await engine.begin()
      return engine.running
    }
  }

  /// Waits until the system has reported all events that occurred while the app was suspended, and until `onEnd` has
  /// returned for each upload that ended. Await this method when the system wakes the app for its session, and then
  /// call the completion handler of the system. If the task is cancelled, this method returns at once.
  public func settled() async { await engine.settled() }
}
