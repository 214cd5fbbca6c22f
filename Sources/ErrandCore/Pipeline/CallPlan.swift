package import ErrandJSON

/// What was decided for one call: options, request, family and client in this order.
package struct CallPlan: Sendable {
  package let statusRule: StatusRule
  let contentTypes: [String]?
  package let shape: JSONShape?
  let envelope: Envelope?
  package let credential: RequestCredential
  let provider: (any CredentialProvider)?
  let base: HTTPURL.Origin?
  package let redirects: RedirectPolicy
  let connectTimeout: Duration?
  let idleTimeout: Duration?
  let limits: ResponseLimits
  let network: NetworkWish
  package let sink: (any BodySink)?
  private(set) var onProgress: (@Sendable (TransferProgress) -> Void)?
  let log: CallLog?
  /// Nil where neither the request nor the client nor the call says anything about the cache.
  package var cache: CachePlan?
  /// Told what is frozen, in place of the rest of the line; nil for every call.
  var probe: FrozenProbe?

  /// The value of `Authorization` of a credential that the request brings, or that the client always shows and that
  /// names no account.
  package var ownCredential: String? {
    if case .own(let credential) = credential { return credential.fieldValue }
    guard case .inherited = credential, let fixed = provider as? FixedCredential, fixed.account == nil else {
      return nil
    }
    return fixed.fieldValue
  }

  /// The value of `Authorization` that takes the place of the account's credential, empty where the request shows
  /// none; nil where the account's is shown.
  package var instead: String? {
    switch credential {
    case .inherited: nil
    case .none: ""
    case .own(let credential): credential.fieldValue
    }
  }

  /// The plan of an exchange that nobody follows.
  var silent: CallPlan {
    var plan = self
    plan.onProgress = nil
    return plan
  }

  /// Whether the answer is judged by what its JSON says.
  var readsJSON: Bool { shape != nil || envelope?.code != nil }
}
