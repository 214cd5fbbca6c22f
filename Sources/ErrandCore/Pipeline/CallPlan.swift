/// The settings of one call. Each setting comes from the first source that declares it. The sources are, in this order:
/// the call's options, the request, the request's ``RequestFamily``, the client.
///
/// The type is a class, because all contexts of a call share one object.
package final class CallPlan: Sendable {
  /// The responses that the call accepts.
  package let rules: ResponseValidation
  /// The content types that the response format accepts. Nil if the format accepts all content types, or if the request
  /// declares content types itself.
  let formatTypes: [String]?
  package let access: CallAccess
  package let sending: SendingRules
  /// The file that receives the response body; nil if the body goes to memory or to the call's own sink.
  package let download: Download?
  /// Whether the response body is written to a file. Stored, because a comparison of ``download`` with nil copies it.
  package let hasDownload: Bool
  package let log: CallLog?
  let cache: CachePolicy
  /// The rule for the cache key. Arguments that the rule leaves out may differ between calls that share an exchange.
  package let cacheKey: CacheKeyRule
  let joining: JoinRule
  /// What this run of the request is for: to send the request, only to check a response, or only to prepare the
  /// request.
  let kind: RunKind

  init(
    _ rules: ResponseValidation, formatTypes: [String]?, _ access: CallAccess, _ sending: SendingRules,
    download: Download?, log: CallLog?, cache: CachePolicy, cacheKey: CacheKeyRule, joining: JoinRule, kind: RunKind
  ) {
    (self.rules, self.formatTypes, self.access, self.sending) = (rules, formatTypes, access, sending)
    (self.download, self.log, self.cache, self.cacheKey) = (download, log, cache, cacheKey)
    (self.joining, self.kind) = (joining, kind)
    hasDownload = download != nil
  }

  /// True if the request is only prepared by the client and is sent elsewhere, for example as a background transfer. In
  /// this case the pipeline receives no response of a server.
  package var isPreparing: Bool { kind.isPreparing }
}

/// The account, the credential and the cookies that a call uses, and the servers to which they may be sent.
package struct CallAccess: Sendable {
  package let credential: RequestCredential
  let provider: (any CredentialProvider)?
  let transport: (any Transport)?
  /// The number of calls in which this call is nested. A call is nested if code of the app that runs inside another
  /// call has started it, for example an interceptor.
  let nesting: Int
  /// The interceptors of the app that run around the exchange. They may add header fields that identify an account.
  let exchangeInterceptors: [any Interceptor]
  /// The account that must be logged in when ``Freezing`` determines the account of the request; nil if any account is
  /// allowed.
  let requiredAccount: String?
  let base: HTTPURL.Origin?
  /// The servers that the client and the request's ``RequestFamily`` name by their URLs.
  let servers: NamedServers
  /// Whether the call uses cookies, and in which cookie jar they are stored.
  let cookies: CookieRule

  /// The content codings that requests of the client accept by default.
  var contentCodings: [String] { transport?.contentCodings ?? [] }

  /// The identity that the transport presents to servers, such as its client certificate; nil if the transport presents
  /// no identity.
  package var transportIdentity: String? { transport?.identity }

  /// The credential provider that can replace a rejected credential. Nil if the request has its own credential, or if
  /// the provider cannot refresh credentials.
  var refreshing: (any RefreshingProvider)? {
    guard case .inherited = credential, (provider as? CredentialStore)?.refreshes ?? true else { return nil }
    return provider as? any RefreshingProvider
  }

  /// The value of the `Authorization` field if the request declares its own credential, or if the client has a fixed
  /// credential without an account; otherwise nil.
  package var ownCredential: String? {
    if case .own(let credential) = credential { return credential.fieldValue }
    guard case .inherited = credential, let fixed = provider as? FixedCredential, fixed.account == nil else {
      return nil
    }
    return fixed.credential.fieldValue
  }

  /// The value of the `Authorization` field that the request sends instead of the account's credential. Empty if the
  /// request sends no credential; nil if the request sends the account's credential.
  package var authorizationOverride: String? {
    switch credential {
    case .inherited: nil
    case .none: ""
    case .own(let credential): credential.fieldValue
    }
  }
}

/// How the requests of a call are sent, and whether they are sent again.
package struct SendingRules: Sendable {
  package let redirects: RedirectPolicy
  /// Whether and when an exchange of the call is tried again.
  package let retries: RetryPolicy
  package let idempotency: Idempotency
  /// The servers to which the request is sent one after another until a server responds; nil if the client has no
  /// fallback servers.
  let hosts: HostList?
  let connectTimeout: Duration?
  let idleTimeout: Duration?
  /// The total time-out of the call; nil if it has none.
  let totalTimeout: Duration?
  package let limits: ResponseLimits
  package let network: NetworkWish
  /// Is called before each exchange; an error that it throws ends the call. Nil for no check.
  let exchangeCheck: (@Sendable () throws(APIError) -> Void)?
  /// Is called with the final request of a download; nil if the caller does not need it.
  package let noteDownload: (@Sendable (SentDownload) -> Void)?

  /// Whether more than one request may be sent for the call.
  var sendsAgain: Bool { retries.sendsAgain || hosts != nil }

  /// Converts the origin of a fallback server to the origin of the base URL. Returns every other origin unchanged.
  func home(of origin: HTTPURL.Origin) -> HTTPURL.Origin { hosts?.home(of: origin) ?? origin }

  /// The URL that a field of a response names, as a URL of the base URL's server if it is one of a fallback server. Nil
  /// if the field is no URL.
  package func homeURL(named text: String, in response: HTTPResponse, to request: HTTPRequest) -> HTTPURL? {
    guard let hosts else { return try? request.url.resolving(text) }
    return (try? response.url.resolving(text)).map(hosts.homeURL)
  }
}

/// What a run of a request is for. Only an ordinary run notifies accessories and hooks.
enum RunKind: Sendable {
  /// The request is sent.
  case ordinary
  /// A response that was received elsewhere is checked and decoded. Nothing is sent.
  case validating
  /// The frozen request (see ``Freezing``) is passed to a function, the probe. The cache is not read, and nothing is
  /// sent.
  case inspecting(FrozenProbe)
  /// The request is passed to a function, the probe, in the form in which it would be sent: with credential, cookies
  /// and signature. Nothing is sent.
  case preparing(FrozenProbe)

  var isOrdinary: Bool { if case .ordinary = self { true } else { false } }

  var isPreparing: Bool { if case .preparing = self { true } else { false } }
}

/// A *probe*: a function that receives the final request and its context instead of the transport, so that nothing is
/// sent.
package typealias FrozenProbe = @Sendable (HTTPRequest, CallContext) async -> Void

extension CallContext {
  /// Passes a request to a probe, and returns a response without content in place of that of a server.
  @inline(never)  // frame size
  func probed(_ request: HTTPRequest, by probe: FrozenProbe) async -> HTTPResponse {
    await probe(request, self)
    return HTTPResponse(head: ResponseHead(status: 204), url: request.url)
  }
}
