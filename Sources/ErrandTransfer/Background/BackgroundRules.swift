import ErrandCore
import ErrandSupport

/// The rules for validating a response, in the form that a record stores.
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

/// The result of preparing a request for handing over.
enum BackgroundMade<HandOver: Sendable>: Sendable {
  case made(HandOver)
  /// The reason why the request cannot be handed over, as the end of the sentence "a request that …".
  case refused(String)
}

extension APIClient {
  /// Runs a request through the interceptors and calls `make` instead of sending the request. Nil if `make` returned
  /// nil.
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
      throw APIError(.build, .unsupported, "A background \(kind) cannot be made from a request that \(clause).")
    }
  }
}
