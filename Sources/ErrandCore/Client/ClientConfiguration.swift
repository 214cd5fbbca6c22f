public import ErrandJSON

/// The configuration of a client: a value that is changed as a whole. Running calls keep the configuration with which
/// they started.
public struct ClientConfiguration: Sendable {
  /// The servers in use.
  public var environment: ServerEnvironment
  /// Other environments, which requests can name and ``use(environment:)`` can select.
  public var environments: [ServerEnvironment] = []

  /// The header fields of every request.
  public var headers = RequestHeaders()
  /// The program's name, sent as `User-Agent` unless headers set another value.
  public var userAgent = "Errand"
  /// Arguments of every query, computed once per call.
  public var commonArguments: (@Sendable () -> Arguments)?
  /// Arguments of every form and JSON body, computed once per call.
  public var commonBodyArguments: (@Sendable () -> Arguments)?
  /// URL filters, applied in order.
  public var filters: [URLFilter] = []
  /// The place of a request's arguments: query, form or JSON body. Use ``ArgumentFormat/jsonByMethod`` for a service
  /// that takes JSON.
  public var argumentFormat = ArgumentFormat.byMethod
  /// The text form of arguments.
  public var argumentStyle = ArgumentStyle()

  /// The time-outs. If a value is nil, it is 10 seconds to connect, 60 seconds without data (idle), and 120 seconds in
  /// total. A call that streams a body or downloads to a file has no total time-out.
  public var timeouts = Timeouts()
  /// The limits on the size of responses.
  public var limits = ResponseLimits()
  /// The rule for redirects.
  public var redirects = RedirectPolicy.follow()
  /// The rule for retries; by default calls are not tried again.
  public var retries = RetryPolicy.none
  /// The cache.
  public var cache: CacheChoice = .standard
  /// The cache policy if neither the request, nor its family, nor ``cacheRules`` declares one.
  public var cachePolicy: CachePolicy = .none
  /// The cache policies of certain hosts, if neither the request nor its family declares one. The first matching rule
  /// applies.
  public var cacheRules: [HostCacheRule] = []
  /// The names of cookies of a jar that the cache ignores. Requests that differ only in these cookies use the same
  /// stored response and may share an exchange. An example is the cookie of a load balancer, which changes with every
  /// response. The cookies are sent as usual. Empty by default.
  ///
  /// - Warning: Requests that differ only in these cookies share their responses. Never name a cookie that selects the
  ///   content: a session, a login, a language, an A/B test. Names are compared byte by byte. A `Cookie` header that
  ///   the request itself sets is not affected.
  public var cookiesIgnoredByCache: Set<String> = []
  /// The version of the app. Entries that another version stored are never used.
  public var appVersion = ""
  /// Decides which equal running calls share one exchange if their request declares no rule; by default calls with a
  /// safe method.
  public var joining = JoinRule.safe
  /// Which statuses are success.
  public var statusRule = StatusRule.success
  /// The envelope around the value in every body; none by default.
  public var envelope = Envelope.none
  /// The format of error bodies, and of responses whose request declares no decoder; nil for JSON. It applies to all
  /// `Decodable` response types except bytes, strings and ``ErrandJSON/JSONValue``.
  public var responseFormat: (any ResponseFormat)?
  /// The decoding of JSON: by default Errand's own decoder with Foundation's default strategies.
  public var jsonDecoding = JSONDecoding.fast
  /// The encoding of JSON.
  public var jsonEncoding = JSONEncoding()

  /// The provider of credentials: it knows which account is logged in.
  public var credentials: (any CredentialProvider)?
  /// Decides whether cookies are stored and sent; by default they are not.
  public var cookies = CookieRule.off
  /// Interceptors around every call, outermost first. They see raw responses, after redirects.
  public var interceptors: [any Interceptor] = []
  /// Interceptors around every exchange, outermost first. They see exactly what is sent; a signature is added here.
  public var exchangeInterceptors: [any Interceptor] = []
  /// Accessories of every call.
  public var accessories: [any Accessory] = []
  /// The limits on exchanges that run at the same time.
  public var admission = AdmissionLimits()
  /// The rule of the circuit breaker, by which calls to an origin fail at once if the origin keeps failing; nil for no
  /// circuit breaker.
  public var breaker: BreakerRule?
  /// The transport: the platform's transport, a registered transport by its name, or your own.
  public var transport: TransportChoice = .platform
  /// The clock; nil for the clock of the transport. Tests set a manual clock.
  public var timers: (any Timers)?
  /// Receives one log line for each event, with secrets masked; nil for no log.
  public var log: (@Sendable (LogLine) -> Void)?

  /// Makes a configuration for one server.
  public init(baseURL: String, cdnURL: String? = nil) {
    environment = ServerEnvironment(baseURL: baseURL, cdnURL: cdnURL)
  }

  /// Selects one of ``environments`` by its name. If no environment has the name, returns false and changes nothing.
  @discardableResult
  public mutating func use(environment name: String) -> Bool {
    guard let found = environments.first(where: { $0.name == name }) else { return false }
    environment = found
    return true
  }
}
