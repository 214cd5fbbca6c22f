import ErrandCore
import ErrandSupport

/// What an answer is judged by, as it goes into a record.
struct BackgroundRules: Sendable {
  let statuses: [[Int]]
  let contentTypes: [String]?
  let isSecure: Bool

  init(of frozen: HTTPRequest, _ plan: CallPlan) {
    statuses = plan.statusRule.recorded
    contentTypes = plan.contentTypes
    isSecure = frozen.url.scheme == .https && !plan.redirects.allowsDowngrade
  }
}

/// What comes of a request at the end of the line.
enum BackgroundMade<HandOver: Sendable>: Sendable {
  case made(HandOver)
  /// Why it cannot be handed over: the rest of a sentence about the request.
  case refused(String)
}

extension APIClient {
  /// Takes a request down the line and has something made of it in place of an exchange; nil where nothing can be made.
  func handingOver<R: APIRequest, HandOver: Sendable>(
    _ request: R, _ kind: BackgroundKind,
    _ make: @escaping @Sendable (HTTPRequest, CallContext) -> BackgroundMade<HandOver>?
  ) async throws(APIError) -> HandOver? {
    let made = Locked<BackgroundMade<HandOver>?>(nil)
    try await stamping(request) { stamped, context in
      let result = make(stamped, context)
      made.withLock { $0 = result }
    }
    switch made.withLock({ $0 }) {
    case nil: return nil
    case .made(let handOver): return handOver
    case .refused(let clause):
      throw APIError(.build, .unsupported, "A background \(kind) cannot be made of a request that \(clause).")
    }
  }
}
