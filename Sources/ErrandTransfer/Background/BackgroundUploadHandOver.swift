import ErrandCore

/// A request with a body on its way to the system: what is sent, and what is kept of it.
struct BackgroundUploadHandOver: Sendable {
  /// What is sent.
  let request: HTTPRequest
  let body: HTTPBody
  let network: NetworkWish
  private let rules: BackgroundRules
  private let answerBytes: Int

  /// Takes a request down the line.
  init<R: APIRequest>(_ request: R, by client: APIClient) async throws(APIError) {
    let made = try await client.handingOver(request, .upload) { stamped, context -> BackgroundMade<Self>? in
      let (plan, frozen) = (context.plan, context.frozenRequest ?? stamped)
      let refusal = BackgroundUploadDecision.refusal(of: stamped, hasDownload: plan.hasDownload, plan.redirects)
      if let refusal { return .refused(refusal) }
      return stamped.body.map { .made(Self(stamped, $0, BackgroundRules(of: frozen, plan), plan)) }
    }
    guard let made else { throw APIError(.build, .unsupported, "The request came to nothing that can be uploaded.") }
    self = made
  }

  private init(_ stamped: HTTPRequest, _ body: HTTPBody, _ rules: BackgroundRules, _ plan: CallPlan) {
    request = stamped
    self.body = body
    self.rules = rules
    network = plan.network
    answerBytes = plan.limits.bodyBytes
  }

  /// What is written down of it.
  func record(id: String, tag: String?, source: BackgroundSource?) -> BackgroundUploadRecord {
    BackgroundUploadRecord(
      id: id, tag: tag, source: source, statuses: rules.statuses, contentTypes: rules.contentTypes,
      isSecure: rules.isSecure, answerBytes: answerBytes)
  }

  /// What the system is handed, with another file as body; nil for the one that the body is already.
  func order(id: String, from file: HTTPBody?) -> BackgroundOrder {
    var request = request
    if let file { request.body = file }
    return BackgroundOrder(name: id, request: request, network: network)
  }
}
