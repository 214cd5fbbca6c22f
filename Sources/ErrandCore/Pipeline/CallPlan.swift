package import ErrandJSON

/// What was decided for one call: options, request, family and client in this order.
///
/// An object, since every way down of a call has the same.
package final class CallPlan: Sendable {
  package let statusRule: StatusRule
  package let contentTypes: [String]?
  /// The content types of the format, where the request says nothing; nil for all.
  let formatTypes: [String]?
  package let shape: JSONShape?
  let envelope: Envelope?
  package let credential: RequestCredential
  let provider: (any CredentialProvider)?
  private let transport: (any Transport)?
  /// How many calls this one is nested in, each begun by code of the app that runs inside another call.
  let nesting: Int
  /// Whether interceptors of the app run around the exchange, which may add what tells accounts apart.
  let hasExchangeInterceptors: Bool
  /// Who has to be present when the call is frozen; nil for anybody.
  let requiredAccount: String?
  let base: HTTPURL.Origin?
  /// The servers that client and family name.
  let servers: NamedServers
  /// Where the cookies of the call are.
  let cookies: CookieRule
  package let redirects: RedirectPolicy
  /// How an exchange is tried again; nil where it is not.
  let retries: RetryPolicy?
  let idempotency: Idempotency
  /// The servers that are asked in turn; nil where there is one.
  let hosts: HostList?
  let connectTimeout: Duration?
  let idleTimeout: Duration?
  package let limits: ResponseLimits
  package let network: NetworkWish
  /// The file that the answer goes into; nil for memory or the call's own sink.
  package let download: Download?
  package let log: CallLog?
  /// What belongs to the key of a stored answer, and does not keep calls from sharing an exchange.
  package let cacheKey: CacheKeyRule
  /// Whether the call may share an exchange.
  let joining: JoinRule
  /// Told what is frozen, in place of the rest of the line; nil for every call.
  let probe: FrozenProbe?
  /// Told what would be sent, in place of the transport; nil for every call.
  package let endProbe: FrozenProbe?

  init(
    statusRule: StatusRule, contentTypes: [String]?, formatTypes: [String]?, shape: JSONShape?,
    envelope: Envelope?, credential: RequestCredential, provider: (any CredentialProvider)?,
    transport: (any Transport)?, nesting: Int, hasExchangeInterceptors: Bool, requiredAccount: String?,
    base: HTTPURL.Origin?, servers: NamedServers, cookies: CookieRule, redirects: RedirectPolicy, retries: RetryPolicy?,
    idempotency: Idempotency, hosts: HostList?,
    connectTimeout: Duration?, idleTimeout: Duration?, limits: ResponseLimits, network: NetworkWish,
    download: Download?, log: CallLog?, cacheKey: CacheKeyRule, joining: JoinRule,
    probe: FrozenProbe?, endProbe: FrozenProbe?
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
    self.probe = probe
    self.endProbe = endProbe
  }

  /// What servers know the transport by, such as its client certificate; nil for nothing.
  package var transportIdentity: String? { transport?.identity }

  /// The provider that can give another credential in place of a refused one; nil where the request shows its own.
  var refreshing: (any RefreshingProvider)? {
    guard case .inherited = credential, (provider as? CredentialStore)?.refreshes ?? true else { return nil }
    return provider as? any RefreshingProvider
  }

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

  /// Whether the answer goes into a file.
  package var hasDownload: Bool { download != nil }

  /// Whether nothing is sent: what would be is only made, for somebody else to send. No server has answered then.
  package var isStamping: Bool { endProbe != nil }

  /// Whether a request may be sent once more though the server may have seen it.
  package func allowsRepeating(_ method: HTTPMethod) -> Bool { idempotency.allows(method) }

  /// Whether more may be sent for the call than one request.
  var sendsAgain: Bool { retries != nil || hosts != nil }

  /// The longest wait that a server may ask for.
  package var longestRetryAfter: Duration { (retries ?? .standard).longestRetryAfter }

  /// The base URL's origin for that of a server it falls back on; every other stays what it is.
  func home(of origin: HTTPURL.Origin) -> HTTPURL.Origin { hosts?.home(of: origin) ?? origin }

  /// Whether the answer is judged by what its JSON says.
  var readsJSON: Bool { shape != nil || envelope?.code != nil }
}

/// Is told what a request comes to, and whose it is.
package typealias FrozenProbe = @Sendable (HTTPRequest, CallContext) async -> Void
