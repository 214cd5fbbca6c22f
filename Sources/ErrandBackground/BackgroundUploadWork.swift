import ErrandCore
import ErrandTransfer
import Foundation

/// Validates the responses to background uploads. A response stays in the folder until the end of its upload has been
/// reported, so that each launch of the app reaches the same result.
struct BackgroundUploadWork: BackgroundWork {
  typealias Record = BackgroundUploadState

  let client: APIClient
  let home: String

  func handle(_ wait: BackgroundWait<HTTPResponse>) -> BackgroundUpload { BackgroundUpload(wait, client) }

  func value(
    of record: Record, hasFile: Bool, in folder: Folder, noting note: (BackgroundPhase) throws -> Void
  ) throws -> HTTPResponse {
    guard hasFile, case .arrived(let stored) = record.phase,
      let response = stored.response(try folder.responseBody(of: record.id, limit: record.answerBytes))
    else { throw APIError.backgroundLost("the saved state is damaged", .upload) }
    try record.judge(response)
    if let total = ResponseProperties(of: stored.head, now: 0).total, total != Int64(response.body.count) {
      throw APIError.backgroundLength(Int64(response.body.count), insteadOf: total, .upload)
    }
    try stored.check(length: Int64(response.body.count), of: .upload)
    if let (state, name) = source(of: record, in: folder),
      let error = BackgroundUploadDecision.failure(of: state, name)
    {
      throw error.with(response)
    }
    return response
  }

  func isFoundAgain(_ error: APIError) -> Bool { BackgroundUploadDecision.isFromValidation(error) }

  func failure(_ error: APIError, of record: Record, in folder: Folder) -> APIError {
    guard let (state, name) = source(of: record, in: folder) else { return error }
    return BackgroundUploadDecision.failure(error, by: state, name)
  }

  /// The state of the app's own body file, and the quoted name of the file. Nil if the upload sends a file that the
  /// library wrote. A file whose state cannot be read counts as unchanged.
  private func source(of record: Record, in folder: Folder) -> (BackgroundSource.State, String)? {
    guard let source = record.source else { return nil }
    let path = source.place.path(home: home)
    let name = "“\(PartNames.lastComponent(of: path))”"
    do {
      return (source.state(now: try folder.files.status(at: path)), name)
    } catch {
      return (.unchanged, name)
    }
  }
}

/// An upload that is ready to be handed over to the system: the request to send, and the values for the saved record
/// (``BackgroundUploadState``).
struct BackgroundUploadHandOver: Sendable {
  /// The request to send, after all interceptors of the client have changed it.
  let request: HTTPRequest
  let body: HTTPBody
  let network: NetworkWish
  private let rules: BackgroundRules
  private let answerBytes: Int

  /// Runs a request through the client's interceptors without sending it.
  init<R: APIRequest>(_ request: R, by client: APIClient) async throws(APIError) {
    let made = try await client.handingOver(request) { prepared, context -> Result<Self, APIError>? in
      let (plan, frozen) = (context.plan, context.frozenRequest ?? prepared)
      let refusal = BackgroundUploadDecision.refusal(
        of: prepared, hasDownload: plan.hasDownload, plan.sending.redirects)
      if let refusal { return .failure(.backgroundRefused(refusal, .upload)) }
      return prepared.body.map { .success(Self(prepared, $0, BackgroundRules(of: frozen, plan), plan)) }
    }
    guard let made else { throw APIError(.build, .unsupported, "The request has no body to upload.") }
    self = made
  }

  private init(_ prepared: HTTPRequest, _ body: HTTPBody, _ rules: BackgroundRules, _ plan: CallPlan) {
    request = prepared
    self.body = body
    self.rules = rules
    network = plan.sending.network
    answerBytes = plan.sending.limits.bodyBytes
  }

  func record(id: String, tag: String?, source: BackgroundSource?) -> BackgroundUploadState {
    BackgroundUploadState(
      id: id, tag: tag, source: source, statuses: rules.statuses, contentTypes: rules.contentTypes,
      isSecure: rules.isSecure, answerBytes: answerBytes)
  }

  /// The value that hands the upload over to the system. Its request has the body `file`. If `file` is nil, the request
  /// keeps its own body, which is already a file.
  func order(id: String, from file: HTTPBody?) -> BackgroundOrder {
    var request = request
    if let file { request.body = file }
    return BackgroundOrder(name: id, request: request, network: network)
  }
}

/// The saved state of a background upload: the file `<id>.upload` in the folder of ``BackgroundUploads``. Once the
/// response has arrived, the record also contains the status, some fields and the origin of the response.
///
/// ```
/// {"answerBytes":33554432,"format":1,"id":"5d0c…","isSecure":true,"phase":{"running":{}},
///  "source":{"length":52428800,"modified":{"nanoseconds":0,"seconds":1700000000},"number":4711,
///  "place":{"isBelowHome":true,"path":"Library/films/7.mp4"}},"statuses":[[200,299]],"tag":"film-7"}
/// ```
struct BackgroundUploadState: BackgroundState, Hashable {
  static let kind = BackgroundKind.upload
  static let currentFormat = 1

  private(set) var format = Self.currentFormat
  let id: String
  let tag: String?
  /// The app's own file that the upload sends; nil if the library wrote the request body into a separate file.
  let source: BackgroundSource?
  /// The accepted status codes. Each inner array contains the first and the last code of a range.
  let statuses: [[Int]]
  let contentTypes: [String]?
  /// Whether the response to the upload must arrive over https.
  let isSecure: Bool
  /// The maximum length in bytes that the body of the response to the upload may have.
  let answerBytes: Int
  var phase = BackgroundPhase.running

  var statusRule: StatusRule { StatusRule(recorded: statuses) }
}

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
