import ErrandCore

/// The decisions that only background uploads need. ``BackgroundDecision`` contains all other decisions about
/// background transfers.
enum BackgroundUploadDecision {
  /// The reason why a request cannot be handed over as an upload; nil if it can. The text completes the sentence "The
  /// request cannot become a background upload: …".
  static func refusal(of request: HTTPRequest, hasDownload: Bool, _ redirects: RedirectPolicy) -> String? {
    guard let body = request.body else {
      return "the request has no body; send it with the client, or as a background download"
    }
    if hasDownload { return "the request has a `download`; the response to an upload is not stored as a file" }
    if request.method == .get { return "the request is a GET; the system sends no body with GET, use another method" }
    if !redirects.isFollowing { return BackgroundDecision.followsNone }
    if body.expectsContinue {
      return "the request waits for 100 Continue; the system cannot wait, leave `expectingContinue()` out"
    }
    if !body.isReplayable {
      return "the request has a body that can be read only once; use data, a file or a replayable stream instead"
    }
    return nil
  }

  /// The error to report if the response was accepted, but the body file changed during the upload. Nil if the body
  /// file did not change. A removed file is not an error, because the system may have read the whole file before.
  static func failure(of source: BackgroundSource.State, _ name: String) -> APIError? {
    switch source {
    case .unchanged, .gone: nil
    case .changed:
      mapped(
        .bodyChanged,
        "The file \(name) changed after its upload was handed over; the server may have received old and new bytes.")
    }
  }

  /// The error to report if the system could not perform an upload. If the body file was changed or removed, the error
  /// names this cause. Otherwise the result is the given error.
  static func failure(_ error: APIError, by source: BackgroundSource.State, _ name: String) -> APIError {
    guard error.stage == .transport else { return error }
    return switch source {
    case .unchanged: error
    case .changed:
      mapped(.bodyChanged, "The file \(name) changed after its upload was handed over; start the upload again.")
    case .gone:
      mapped(.bodySource, "The file \(name) was removed before it was sent; keep the file until the upload ends.")
    }
  }

  /// Whether an error comes from validating a response. The next launch of the app would find the same error, because
  /// it validates the same response.
  static func isFromValidation(_ error: APIError) -> Bool { error.stage == .validate }

  private static func mapped(_ kind: TransportFailure.Kind, _ message: String) -> APIError {
    .mapping(TransportFailure(kind, message), as: .transport)
  }
}
