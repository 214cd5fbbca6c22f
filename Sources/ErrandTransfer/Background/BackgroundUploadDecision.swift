import ErrandCore

/// What is done with a background upload, beside what ``BackgroundDecision`` says of both kinds.
enum BackgroundUploadDecision {
  /// Why a request cannot be handed over as an upload; nil where it can.
  static func refusal(of request: HTTPRequest, hasDownload: Bool, _ redirects: RedirectPolicy) -> String? {
    guard let body = request.body else { return "has no body; send it by the client, or as a background download" }
    if hasDownload { return "has a `download`; an upload's answer is not put under a name" }
    if request.method == .get { return "is a GET, with which the system sends no body" }
    if !redirects.isFollowing { return BackgroundDecision.followsNone }
    if body.expectsContinue { return "waits for 100 Continue; leave `expectingContinue()` out, the system cannot wait" }
    if !body.isReplayable {
      return "has a body that can be read only once; give it as data or as a file, or say that its stream is replayable"
    }
    return nil
  }

  /// What is told where an answer came that is taken; nil for the answer. A file that is gone says nothing against it:
  /// the system may have let go of it long before.
  static func failure(of source: BackgroundSource.State, _ name: String) -> APIError? {
    switch source {
    case .unchanged, .gone: nil
    case .changed:
      mapped(
        .bodyChanged,
        "The file \(name) changed after its upload was handed over; the server took what it got, which may be a mix.")
    }
  }

  /// What is told where the system has failed to carry an upload out: what its file shows, else the failure.
  static func failure(_ error: APIError, by source: BackgroundSource.State, _ name: String) -> APIError {
    guard error.stage == .transport else { return error }
    return switch source {
    case .unchanged: error
    case .changed:
      mapped(.bodyChanged, "The file \(name) changed after its upload was handed over; start it once more.")
    case .gone: mapped(.bodySource, "The file \(name) went away before it was sent; let it stay until the end.")
    }
  }

  /// Whether an error is the verdict on an answer, which the next launch comes to once more.
  static func isVerdict(_ error: APIError) -> Bool { error.stage == .validate }

  private static func mapped(_ kind: TransportFailure.Kind, _ message: String) -> APIError {
    .mapping(TransportFailure(kind, message), as: .transport)
  }
}
