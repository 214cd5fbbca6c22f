package import ErrandJSON

/// The settings of one call. Each setting comes from the first of these that declares it: the call's options, the
/// request, the request's family, the client.
///
/// The type is a class, because all contexts of a call share one object.
package final class CallPlan: Sendable {
  package let statusRule: StatusRule
  package let contentTypes: [String]?
  /// The content types that the response format accepts, if the request declares none; nil accepts all.
  let formatTypes: [String]?
  package let shape: JSONShape?
  let envelope: Envelope
  package let credential: RequestCredential
  let provider: (any CredentialProvider)?
  private let transport: (any Transport)?
  /// How many calls this call is nested in. A call is nested if it was started by code of the app that runs inside
  /// another call.
  let nesting: Int
  /// True if interceptors of the app run around the exchange. They may add fields that identify an account.
  let hasExchangeInterceptors: Bool
  /// The account that must be the current account when the request is fixed; nil if any account may be current.
  let requiredAccount: String?
  let base: HTTPURL.Origin?
  /// The servers that the client and the family name.
  let servers: NamedServers
  /// The cookie jars of the call.
  let cookies: CookieRule
  package let redirects: RedirectPolicy
  /// When an exchange is tried again.
  let retries: RetryPolicy
  let idempotency: Idempotency
  /// The servers that are asked one after another until one responds; nil if there is only one server.
  let hosts: HostList?
  let connectTimeout: Duration?
  let idleTimeout: Duration?
  package let limits: ResponseLimits
  package let network: NetworkWish
  /// The file that receives the response body; nil for memory or the call's own sink.
  package let download: Download?
  package let log: CallLog?
  /// The rule for the cache key. Arguments that the rule leaves out may differ between calls that share an exchange.
  package let cacheKey: CacheKeyRule
  /// Whether the call may share an exchange.
  let joining: JoinRule
  /// The purpose of the run.
  let kind: RunKind

  init(
    statusRule: StatusRule, contentTypes: [String]?, formatTypes: [String]?, shape: JSONShape?,
    envelope: Envelope, credential: RequestCredential, provider: (any CredentialProvider)?,
    transport: (any Transport)?, nesting: Int, hasExchangeInterceptors: Bool, requiredAccount: String?,
    base: HTTPURL.Origin?, servers: NamedServers, cookies: CookieRule, redirects: RedirectPolicy, retries: RetryPolicy,
    idempotency: Idempotency, hosts: HostList?,
    connectTimeout: Duration?, idleTimeout: Duration?, limits: ResponseLimits, network: NetworkWish,
    download: Download?, log: CallLog?, cacheKey: CacheKeyRule, joining: JoinRule,
    kind: RunKind
  ) {
    self.statusRule = statusRule
    self.contentTypes = contentTypes
    self.formatTypes = formatTypes
    self.shape = shape
    self.envelope = envelope
    self.credential = credential
    self.provider = provider
    self.transport = transport
    self.nesting = nesting
    self.hasExchangeInterceptors = hasExchangeInterceptors
    self.requiredAccount = requiredAccount
    self.base = base
    self.servers = servers
    self.cookies = cookies
    self.redirects = redirects
    self.retries = retries
    self.idempotency = idempotency
    self.hosts = hosts
    self.connectTimeout = connectTimeout
    self.idleTimeout = idleTimeout
    self.limits = limits
    self.network = network
    self.download = download
    self.log = log
    self.cacheKey = cacheKey
    self.joining = joining
    self.kind = kind
  }

  /// What identifies the transport to servers, such as its client certificate; nil if nothing identifies the transport.
  package var transportIdentity: String? { transport?.identity }

  /// The provider that can replace a rejected credential; nil if the request has its own credential.
  var refreshing: (any RefreshingProvider)? {
    guard case .inherited = credential, (provider as? CredentialStore)?.refreshes ?? true else { return nil }
    return provider as? any RefreshingProvider
  }

  /// The value of `Authorization` if the request declares its own credential, or if the client has a fixed credential
  /// without an account. Otherwise nil.
  package var ownCredential: String? {
    if case .own(let credential) = credential { return credential.fieldValue }
    guard case .inherited = credential, let fixed = provider as? FixedCredential, fixed.account == nil else {
      return nil
    }
    return fixed.fieldValue
  }

  /// The value of `Authorization` that the request sends instead of the account's credential. Empty if the request
  /// sends no credential; nil if the request sends the account's credential.
  package var instead: String? {
    switch credential {
    case .inherited: nil
    case .none: ""
    case .own(let credential): credential.fieldValue
    }
  }

  /// Whether the response body is written to a file.
  package var hasDownload: Bool { download != nil }

  /// True if the request is only prepared, and is sent elsewhere, for example as a background transfer. Then there is
  /// no response of a server.
  package var isStamping: Bool { kind.isStamping }

  /// Whether a request may be sent again although the server may have processed it.
  package func allowsRepeating(_ method: HTTPMethod) -> Bool { idempotency.allows(method) }

  /// Whether more than one request may be sent for the call.
  var sendsAgain: Bool { retries.sendsAgain || hosts != nil }

  /// The longest `Retry-After` that is respected.
  package var longestRetryAfter: Duration { retries.longestRetryAfter }

  /// Converts the origin of a fallback server to the origin of the base URL. Returns every other origin unchanged.
  func home(of origin: HTTPURL.Origin) -> HTTPURL.Origin { hosts?.home(of: origin) ?? origin }

  /// Whether the JSON content decides if the response is accepted.
  var readsJSON: Bool { shape != nil || envelope.code != nil }
}

/// The purpose of a run of a request. Only an ordinary run notifies accessories and hooks.
enum RunKind: Sendable {
  /// The request is sent.
  case ordinary
  /// A response that was received elsewhere is checked and decoded. Nothing is sent.
  case judging
  /// The request is passed to a probe (a function) as ``Freezing`` fixed it. The cache is not read, and nothing is
  /// sent.
  case probing(FrozenProbe)
  /// The request is passed to a probe (a function) as it would be sent, with credential, cookies and signature. Nothing
  /// is sent.
  case stamping(FrozenProbe)

  var isOrdinary: Bool { if case .ordinary = self { true } else { false } }

  var isStamping: Bool { if case .stamping = self { true } else { false } }
}

/// A *probe*: a function that receives the final request and its context. Nothing is sent.
package typealias FrozenProbe = @Sendable (HTTPRequest, CallContext) async -> Void
