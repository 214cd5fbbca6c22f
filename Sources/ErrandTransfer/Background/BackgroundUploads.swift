public import ErrandCore
public import Foundation

/// Uploads that go on while the app is suspended, and after it has ended: handed over to a session of the system's.
///
/// ```swift
/// let uploads = BackgroundUploads(client, over: session, in: folder) { ending in
///   await library.note(ending.tag, ending.result)
/// }
/// let film = try await uploads.start(SendFilm(id: 7, file: file), tag: "film-7")
/// ```
///
/// Make one at every launch, before anything else, with the same folder and a session of the same name: it takes up what
/// an earlier run of the app has left, and tells how it ended. It lives as long as its session.
///
/// A request passes the whole line of the client, so it gets credential, cookies and signature when it is handed over.
/// From there on it is the system's: that follows redirects by its own rules, sends the body again where it must, and
/// keeps the request, credential included, in its own store. What this library writes down names neither URL nor fields
/// of the request.
///
/// | body | |
/// |---|---|
/// | a whole file | sent from where it lies; it must stay there unchanged until the end |
/// | data, text, form, JSON, multipart, a part of a file, what is compressed, a stream that is replayable | written into a file of the user alone first, in the folder, which is removed after the end |
/// | none, a stream that can be read once, one that waits for 100 Continue | refused |
public final class BackgroundUploads: Sendable {
  private let client: APIClient
  private let engine: BackgroundEngine<BackgroundUploadWork>

  /// Takes up what is under way and begins to listen.
  ///
  /// - Parameters:
  ///   - client: Who builds the requests, and reads the answers.
  ///   - session: Who carries them out; for this object alone, not for downloads, too.
  ///   - folder: Where it is noted what is under way, and where bodies and answers lie until the end: of the user alone
  ///     (mode 0700), made if it is missing. Removing it loses what is under way.
  ///   - onEnd: Told each end, in a task of its own, also of uploads that an earlier run has started. Awaited; where the
  ///     process ends before it has returned, the next run tells the end once more.
  public convenience init(
    _ client: APIClient, over session: any BackgroundSession, in folder: URL,
    onEnd: @escaping @Sendable (BackgroundUpload.Ending) async -> Void
  ) {
    self.init(client, over: session, in: folder, files: SystemFiles(), home: NSHomeDirectory(), onEnd: onEnd)
  }

  /// The same over a file system of the caller's and with another home folder, for tests.
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

  /// Hands an upload over, and returns once the system has it. Each start is an upload of its own: look for the tag among
  /// ``running`` where one may be under way.
  ///
  /// Options of a call have no part in it: a deadline or a priority would not reach the system.
  /// - Parameters:
  ///   - request: What is sent; see the table of bodies.
  ///   - tag: What the app knows it by.
  ///   - copiesFile: Whether a body that is a whole file is copied into the folder first, so that the file may change or
  ///     go at once.
  /// - Throws: ``ErrandCore/APIError``: where the request cannot be built, written or handed over; nothing is left then.
  ///   A cancel of the task ends the writing of a body.
  public func start<R: APIRequest>(
    _ request: R, tag: String? = nil, copiesFile: Bool = false
  ) async throws(APIError) -> BackgroundUpload {
    try await engine.begin()
    let order = try await BackgroundUploadHandOver(request, by: client)
    return try await engine.start(order, copiesFile: copiesFile, tag: tag)
  }

  /// Those that have not ended, whichever run started them.
  public var running: [BackgroundUpload] {
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
