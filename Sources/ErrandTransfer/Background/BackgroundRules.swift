import ErrandCore
import ErrandSupport

/// The rules for validating the response of a background transfer, in the form that the saved record stores.
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

/// The result of preparing a request for a background transfer: a prepared transfer, or the reason why the request is
/// refused.
enum BackgroundMade<HandOver: Sendable>: Sendable {
  case made(HandOver)
  /// The request cannot be handed over to the system. The text is the reason. It completes the sentence "The request
  /// cannot become a background download: …" (or "upload").
  case refused(String)
}

extension APIClient {
  /// Runs a request through the interceptors of the client. Then calls `make` with the prepared request, which is not
  /// sent. Returns the value that `make` made, or nil if `make` returned nil. Throws if `make` refused the request.
  func handingOver<R: APIRequest, HandOver: Sendable>(
    _ request: R, _ kind: BackgroundKind,
    _ make: @escaping @Sendable (HTTPRequest, CallContext) -> BackgroundMade<HandOver>?
  ) async throws(APIError) -> HandOver? {
    let made = Locked<BackgroundMade<HandOver>?>(nil)
    try await prepare(request) { prepared, context in
      let result = make(prepared, context)
      made.withLock { $0 = result }
    }
    switch made.withLock({ $0 }) {
    case nil: return nil
    case .made(let handOver): return handOver
    case .refused(let reason):
      throw APIError(.build, .unsupported, "The request cannot become a background \(kind): \(reason).")
    }
  }
}
