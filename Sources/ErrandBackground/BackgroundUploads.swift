public import ErrandCore
package import ErrandTransfer
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
  public func eventsHandled() async { await engine.eventsHandled() }
}

/// An upload that the system performs, whether or not the app is running.
///
/// The upload continues even if the app keeps no reference to this handle. The end of the upload is reported to the
/// `onEnd` closure of ``BackgroundUploads`` and to the callers of ``response()``.
public final class BackgroundUpload: Sendable, Identifiable {
  /// The result of a background upload that has ended.
  public struct Ending: Sendable {
    /// The upload's ``BackgroundUpload/id``.
    public let id: String
    /// The app's own name for the upload, as it was passed to ``BackgroundUploads/start(_:tag:copiesFile:)``; nil if no
    /// tag was passed.
    public let tag: String?
    /// The response, or the error of the upload. Of its URL, the response contains only the origin. Of its fields, the
    /// response contains only those about the body, and `Location`, `Content-Location`, `ETag`, `Last-Modified` and
    /// `Retry-After`. If the status or the content type was rejected, the error contains the response.
    public let result: Result<HTTPResponse, APIError>

    let client: APIClient

    /// Validates and decodes the response as if the client had sent `request` and received this response. Checks the
    /// status, the content type, the JSON, the business code and the JSON shape, and then runs the decoder.
    ///
    /// Pass a new request of the type with which the upload was started. The content of the new request does not
    /// matter, because it is neither built nor sent; for example, its body file may be missing. Interceptors,
    /// accessories and hooks are not called.
    /// - Throws: ``ErrandCore/APIError`` if the upload failed, or if the response was rejected or cannot be decoded.
    ///   The body of a rejected response is decoded as the request's error type.
    public func value<R: APIRequest>(for request: R) async throws(APIError) -> R.Response {
      try await client.value(of: result, for: request)
    }
  }

  /// The identifier of the upload, unique among all uploads. It stays the same when the app is launched again.
  public var id: String { wait.id }
  /// The app's own name for the upload, as it was passed to ``BackgroundUploads/start(_:tag:copiesFile:)``; nil if no
  /// tag was passed.
  public var tag: String? { wait.tag }
  /// The progress of the upload. A slow reader gets only the newest report. If the system starts the upload again,
  /// ``ErrandHTTP/TransferProgress/isRestart`` is true. Nothing is reported for the time in which the app did not run.
  /// The stream finishes when the upload ends. Only one task may read the stream.
  public var progress: AsyncStream<TransferProgress> { wait.progress }

  let wait: BackgroundWait<HTTPResponse>
  private let client: APIClient

  init(_ wait: BackgroundWait<HTTPResponse>, _ client: APIClient) {
    self.wait = wait
    self.client = client
  }

  /// Cancels the upload. The server may already have received the body. Has no effect after the response has arrived.
  public func cancel() { wait.cancel() }

  /// Waits for the response. The response contains only some of its fields, see ``Ending/result``.
  /// - Throws: ``ErrandCore/APIError`` if the upload failed or was cancelled. If the waiting task is cancelled, this
  ///   method throws too, but the upload continues.
  public func response() async throws(APIError) -> HTTPResponse { try await wait.value() }

  /// Waits for the response, and then validates and decodes it as described at ``Ending/value(for:)``.
  /// - Throws: ``ErrandCore/APIError``, as ``response()``, and also if the response is rejected or cannot be decoded.
  public func value<R: APIRequest>(for request: R) async throws(APIError) -> R.Response {
    let result: Result<HTTPResponse, APIError>
    do {
      result = .success(try await wait.value())
    } catch {
      result = .failure(error)
    }
    return try await client.value(of: result, for: request)
  }
}

extension BackgroundUpload: BackgroundHandle {}

extension APIClient {
  /// Decodes a response as the response type of a request. A response that was rejected before is validated again. The
  /// new error then contains the body, decoded as the request's own error type.
  fileprivate func value<R: APIRequest>(
    of result: Result<HTTPResponse, APIError>, for request: R
  ) async throws(APIError) -> R.Response {
    switch result {
    case .success(let response): return try await value(of: response, for: request)
    case .failure(let error):
      guard BackgroundUploadDecision.isFromValidation(error), let response = error.response else { throw error }
      return try await value(of: response, for: request)
    }
  }
}

extension BackgroundEngine where Work == BackgroundUploadWork {
  /// Prepares the body file first, then saves the record of the upload, and then hands the upload over to the system.
  func start(
    _ order: BackgroundUploadHandOver, copiesFile: Bool, tag: String?
  ) async throws(APIError) -> BackgroundUpload {
    let id = UUID().uuidString.lowercased()
    do {
      if !copiesFile, let source = try await queue.value({ try self.source(of: order) }) {
        return try await queue.value {
          try self.launch(order.record(id: id, tag: tag, source: source), order.order(id: id, from: nil))
        }
      }
      try await folder.write(order.body, for: id)
      return try await queue.value { try self.launchWritten(order, id, tag) }
    } catch {
      throw Self.error(error)
    }
  }

  private func source(of order: BackgroundUploadHandOver) throws -> BackgroundSource? {
    try folder.source(of: order.body, home: work.home)
  }

  private func launchWritten(_ order: BackgroundUploadHandOver, _ id: String, _ tag: String?) throws -> BackgroundUpload
  {
    let file: HTTPBody
    do {
      file = try .file(folder.bodyFile(of: id))
    } catch {
      folder.remove(id)
      throw error
    }
    return try launch(order.record(id: id, tag: tag, source: nil), order.order(id: id, from: file))
  }
}
