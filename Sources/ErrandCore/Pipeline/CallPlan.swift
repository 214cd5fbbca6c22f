import ErrandJSON

/// What was decided for one call: options, request, family and client in this order.
struct CallPlan: Sendable {
  let statusRule: StatusRule
  let contentTypes: [String]?
  let shape: JSONShape?
  let envelope: Envelope?
  let credential: RequestCredential
  let provider: (any CredentialProvider)?
  let base: HTTPURL.Origin?
  let redirects: RedirectPolicy
  let connectTimeout: Duration?
  let idleTimeout: Duration?
  let limits: ResponseLimits
  let priority: CallPriority
  let network: NetworkWish
  let sink: (any BodySink)?
  let onProgress: (@Sendable (TransferProgress) -> Void)?
  let log: CallLog?

  /// Whether the answer is judged by what its JSON says.
  var readsJSON: Bool { shape != nil || envelope?.code != nil }
}
