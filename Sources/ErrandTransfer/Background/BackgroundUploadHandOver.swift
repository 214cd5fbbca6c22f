import ErrandCore

/// An upload that is ready to be handed over to the system: the request to send, and the values for its record.
struct BackgroundUploadHandOver: Sendable {
  /// The request to send.
  let request: HTTPRequest
  let body: HTTPBody
  let network: NetworkWish
  private let rules: BackgroundRules
  private let answerBytes: Int

  /// Runs a request through the client's interceptors, without sending it.
  init<R: APIRequest>(_ request: R, by client: APIClient) async throws(APIError) {
    let made = try await client.handingOver(request, .upload) { stamped, context -> BackgroundMade<Self>? in
      let (plan, frozen) = (context.plan, context.frozenRequest ?? stamped)
      let refusal = BackgroundUploadDecision.refusal(of: stamped, hasDownload: plan.hasDownload, plan.redirects)
      if let refusal { return .refused(refusal) }
      return stamped.body.map { .made(Self(stamped, $0, BackgroundRules(of: frozen, plan), plan)) }
    }
    guard let made else { throw APIError(.build, .unsupported, "The request has no body to upload.") }
    self = made
  }

  private init(_ stamped: HTTPRequest, _ body: HTTPBody, _ rules: BackgroundRules, _ plan: CallPlan) {
    request = stamped
    self.body = body
    self.rules = rules
    network = plan.network
    answerBytes = plan.limits.bodyBytes
  }

  /// The record to save for this upload.
  func record(id: String, tag: String?, source: BackgroundSource?) -> BackgroundUploadRecord {
    BackgroundUploadRecord(
      id: id, tag: tag, source: source, statuses: rules.statuses, contentTypes: rules.contentTypes,
      isSecure: rules.isSecure, answerBytes: answerBytes)
  }

  /// The order for the system. Its body is `file`. If `file` is nil, it keeps the request's body, which is a file
  /// already.
  func order(id: String, from file: HTTPBody?) -> BackgroundOrder {
    var request = request
    if let file { request.body = file }
    return BackgroundOrder(name: id, request: request, network: network)
  }
}
