import ErrandCore

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
    let made = try await client.handingOver(request, .upload) { prepared, context -> BackgroundMade<Self>? in
      let (plan, frozen) = (context.plan, context.frozenRequest ?? prepared)
      let refusal = BackgroundUploadDecision.refusal(of: prepared, hasDownload: plan.hasDownload, plan.redirects)
      if let refusal { return .refused(refusal) }
      return prepared.body.map { .made(Self(prepared, $0, BackgroundRules(of: frozen, plan), plan)) }
    }
    guard let made else { throw APIError(.build, .unsupported, "The request has no body to upload.") }
    self = made
  }

  private init(_ prepared: HTTPRequest, _ body: HTTPBody, _ rules: BackgroundRules, _ plan: CallPlan) {
    request = prepared
    self.body = body
    self.rules = rules
    network = plan.network
    answerBytes = plan.limits.bodyBytes
  }

  /// The record to save for this upload.
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
