import ErrandCore

/// The decisions that only background uploads need. ``BackgroundDecision`` has those for downloads and uploads.
enum BackgroundUploadDecision {
  /// Why a request cannot be handed over as an upload; nil if it can. The text continues the sentence "a request that
  /// …".
  static func refusal(of request: HTTPRequest, hasDownload: Bool, _ redirects: RedirectPolicy) -> String? {
    guard let body = request.body else { return "has no body; send it with the client, or as a background download" }
    if hasDownload { return "has a `download`; the response to an upload is not stored as a file" }
    if request.method == .get { return "is a GET; the system sends no body with it" }
    if !redirects.isFollowing { return BackgroundDecision.followsNone }
    if body.expectsContinue { return "waits for 100 Continue; the system cannot wait, leave `expectingContinue()` out" }
    if !body.isReplayable {
      return "has a body that can be read only once; use data, a file or a replayable stream instead"
    }
    return nil
  }

  /// The error to report although the response was accepted; nil to report the response. A missing file is no error,
  /// because the system may have read all of it before it was removed.
  static func failure(of source: BackgroundSource.State, _ name: String) -> APIError? {
    switch source {
    case .unchanged, .gone: nil
    case .changed:
      mapped(
        .bodyChanged,
        "The file \(name) changed after its upload was handed over; the server may have received old and new bytes.")
    }
  }

  /// The error to report if the system could not perform an upload. If the file was changed or removed, this is the
  /// error; otherwise it is the failure itself.
  static func failure(_ error: APIError, by source: BackgroundSource.State, _ name: String) -> APIError {
    guard error.stage == .transport else { return error }
    return switch source {
    case .unchanged: error
    case .changed:
      mapped(.bodyChanged, "The file \(name) changed after its upload was handed over; start it again.")
    case .gone: mapped(.bodySource, "The file \(name) was removed before it was sent; keep it until the upload ends.")
    }
  }

  /// Whether an error comes from validating a response; the next launch would reach the same error.
  static func isVerdict(_ error: APIError) -> Bool { error.stage == .validate }

  private static func mapped(_ kind: TransportFailure.Kind, _ message: String) -> APIError {
    .mapping(TransportFailure(kind, message), as: .transport)
  }
}
