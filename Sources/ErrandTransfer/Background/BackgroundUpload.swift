public import ErrandCore

/// An upload that the system carries out, be the app running or not.
///
/// It goes on though nobody holds the handle. How it ends is told to the closure of ``BackgroundUploads`` and here.
public final class BackgroundUpload: Sendable, Identifiable {
  /// How a background upload ended.
  public struct Ending: Sendable {
    /// The upload's ``BackgroundUpload/id``.
    public let id: String
    /// The tag that it was started with.
    public let tag: String?
    /// The answer, or why none was taken. Of its URL there is the origin; of its fields there are those about the body
    /// and `Location`, `Content-Location`, `ETag`, `Last-Modified` and `Retry-After`. Where status or content type were
    /// refused, the error has the answer.
    public let result: Result<HTTPResponse, APIError>

    let client: APIClient

    /// What the answer says, read as a call of this request would read it: status, content type, JSON, business code,
    /// shape, decoder.
    ///
    /// The request is one like that which was started, made anew; what is sent of it does not matter here. It is
    /// neither built nor sent, so its file may be gone. Interceptors, accessories and hooks hear nothing.
    /// - Throws: ``ErrandCore/APIError``: why the upload failed, or why the answer is refused or cannot be read; with
    ///   the body of a refused answer as the request's type for errors.
    public func value<R: APIRequest>(for request: R) async throws(APIError) -> R.Response {
      try await client.value(of: result, for: request)
    }
  }

  /// What it is known by, also after the app was started anew; no two uploads have the same.
  public var id: String { wait.id }
  /// The tag that it was started with.
  public var tag: String? { wait.tag }
  /// How much was sent: the newest report, those in between dropped for a reader who is slow. Where the system begins
  /// anew, ``ErrandHTTP/TransferProgress/isRestart`` says so. Nothing is told of the time in which the app did not run.
  /// Ends with the upload; for one reader.
  public var progress: AsyncStream<TransferProgress> { wait.progress }

  let wait: BackgroundWait<HTTPResponse>
  private let client: APIClient

  init(_ wait: BackgroundWait<HTTPResponse>, _ client: APIClient) {
    self.wait = wait
    self.client = client
  }

  /// Ends the upload; the server may have it by then. No effect once its answer is there.
  public func cancel() { wait.cancel() }

  /// The answer, once it is there; see ``Ending/result``.
  /// - Throws: ``ErrandCore/APIError``: why the upload failed, or that it was cancelled. Where the task that waits is
  ///   cancelled, this throws, too, and the upload goes on.
  public func response() async throws(APIError) -> HTTPResponse { try await wait.value() }

  /// What the answer says, once it is there, read as a call of this request would read it; see ``Ending/value(for:)``.
  /// - Throws: ``ErrandCore/APIError``, as ``response()``, and where the answer is refused or cannot be read.
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
  /// What was refused is read once more, for the request's own type for errors.
  fileprivate func value<R: APIRequest>(
    of result: Result<HTTPResponse, APIError>, for request: R
  ) async throws(APIError) -> R.Response {
    switch result {
    case .success(let response): return try await value(of: response, for: request)
    case .failure(let error):
      guard BackgroundUploadDecision.isVerdict(error), let response = error.response else { throw error }
      return try await value(of: response, for: request)
    }
  }
}
