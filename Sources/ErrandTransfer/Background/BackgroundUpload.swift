public import ErrandCore

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
