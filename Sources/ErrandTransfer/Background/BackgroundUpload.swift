public import ErrandCore

/// An upload that the system performs, whether or not the app is running.
///
/// The upload continues even if the app keeps no reference to this handle. Its end is reported to the closure of
/// ``BackgroundUploads`` and here.
public final class BackgroundUpload: Sendable, Identifiable {
  /// How a background upload ended.
  public struct Ending: Sendable {
    /// The upload's ``BackgroundUpload/id``.
    public let id: String
    /// The tag that the upload was started with.
    public let tag: String?
    /// The response, or the error. The URL of the response is reduced to its origin, and its fields to those about the
    /// body and `Location`, `Content-Location`, `ETag`, `Last-Modified` and `Retry-After`. If the status or the content
    /// type was rejected, the error carries the response.
    public let result: Result<HTTPResponse, APIError>

    let client: APIClient

    /// Decodes the response as a call of this request would: status, content type, JSON, business code, shape, decoder.
    ///
    /// Pass a new request of the type that was started; its content does not matter here. It is neither built nor sent,
    /// so its file may be gone. Interceptors, accessories and hooks are not called.
    /// - Throws: ``ErrandCore/APIError``: why the upload failed, or why the response was rejected or cannot be decoded;
    ///   the body of a rejected response is decoded as the request's error type.
    public func value<R: APIRequest>(for request: R) async throws(APIError) -> R.Response {
      try await client.value(of: result, for: request)
    }
  }

  /// The identifier of the upload, unique among all uploads. It stays the same when the app is launched again.
  public var id: String { wait.id }
  /// The tag that the upload was started with.
  public var tag: String? { wait.tag }
  /// The progress of the upload. A slow reader gets only the newest report. If the system starts the upload again,
  /// ``ErrandHTTP/TransferProgress/isRestart`` is true. Nothing is reported for the time in which the app did not run.
  /// The stream finishes with the upload and supports one reader.
  public var progress: AsyncStream<TransferProgress> { wait.progress }

  let wait: BackgroundWait<HTTPResponse>
  private let client: APIClient

  init(_ wait: BackgroundWait<HTTPResponse>, _ client: APIClient) {
    self.wait = wait
    self.client = client
  }

  /// Cancels the upload; the server may already have received it. Has no effect once the response has arrived.
  public func cancel() { wait.cancel() }

  /// Waits for the response; see ``Ending/result``.
  /// - Throws: ``ErrandCore/APIError``: why the upload failed, or that it was cancelled. If the waiting task is
  ///   cancelled, this throws too, and the upload continues.
  public func response() async throws(APIError) -> HTTPResponse { try await wait.value() }

  /// Waits for the response and decodes it as a call of this request would; see ``Ending/value(for:)``.
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
  /// Validates a rejected response again, so that its body is decoded as the request's own error type.
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
