public import ErrandJSON

/// How a client works: a value, changed as a whole. Calls that run keep the one they started with.
public struct ClientConfiguration: Sendable {
  /// The servers in use.
  public var environment: ServerEnvironment
  /// Other environments, for requests that name one and for ``use(environment:)``.
  public var environments: [ServerEnvironment] = []

  /// What the client says about header fields of every request.
  public var headers = RequestHeaders()
  /// The program's name, sent as `User-Agent` where nobody says anything else.
  public var userAgent = "Errand"
  /// Arguments that every query carries, asked for once per call.
  public var commonArguments: (@Sendable () -> Arguments)?
  /// Arguments that every form and JSON body carries, asked for once per call.
  public var commonBodyArguments: (@Sendable () -> Arguments)?
  /// Filters of URLs, in order.
  public var filters: [URLFilter] = []
  /// How arguments are written.
  public var argumentStyle = ArgumentStyle()

  /// Time-outs. What is nil here is 10 seconds to connect, 60 idle, 120 in all but for transfers.
  public var timeouts = Timeouts()
  /// How large answers may be.
  public var limits = ResponseLimits()
  /// How redirects are followed.
  public var redirects = RedirectPolicy.follow()
  /// Whether and how calls are tried again; not at all by default.
  public var retries = RetryPolicy.never
  /// The cache.
  public var cache: CacheChoice = .standard
  /// How answers are kept where neither request nor family nor ``cacheRules`` say anything.
  public var cachePolicy: CachePolicy = .none
  /// How answers of certain hosts are kept where neither request nor family say anything; the first that fits counts.
  public var cacheRules: [HostCacheRule] = []
  /// The names of cookies of a jar that do not separate stored responses, nor calls that share an exchange: those of load
  /// balancers, for example, which change with every response. They are sent as usual. Empty by default.
  ///
  /// - Warning: Responses are shared by everyone who differs in these cookies alone. Never name a cookie that a server
  ///   chooses the content by: a session, a login, a language, an A/B test. Names are compared byte by byte. A `Cookie`
  ///   header that the request itself sets is not affected.
  public var cookiesIgnoredByCache: Set<String> = []
  /// The version of the app: what another one stored is never used.
  public var appVersion = ""
  /// Which calls share one exchange where their request says nothing: those of safe methods.
  public var joining = JoinRule.safe
  /// Which statuses are success.
  public var statusRule = StatusRule.success
  /// What stands round the values of every answer; nil for nothing.
  public var envelope: Envelope?
  /// The format that answers have where their request declares no decoder: of all `Decodable` types but bytes, texts and
  /// ``ErrandJSON/JSONValue``, and of error bodies; nil for JSON.
  public var responseFormat: (any ResponseFormat)?
  /// How JSON is read: by Errand's own decoder and Foundation's default strategies where nothing else is said.
  public var jsonDecoding = JSONDecoding.fast
  /// How JSON is written.
  public var jsonEncoding = JSONEncoding()

  /// Who is logged in.
  public var credentials: (any CredentialProvider)?
  /// Whether cookies are kept and sent: not at all by default.
  public var cookies = CookieRule.off
  /// Interceptors around every call, outermost first. They see raw answers, redirects followed.
  public var interceptors: [any Interceptor] = []
  /// Interceptors around every exchange, outermost first. They see what is really sent: a signature goes here.
  public var exchangeInterceptors: [any Interceptor] = []
  /// Accessories of every call.
  public var accessories: [any Accessory] = []
  /// How many exchanges may run at once.
  public var admission = AdmissionLimits()
  /// When calls to an origin that keeps failing are refused at once; nil for never.
  public var breaker: BreakerRule?
  /// The transport: by name, or one of the user's own.
  public var transport: TransportChoice = .platform
  /// The clock; nil for the transport's own. Tests set a manual one.
  public var timers: (any Timers)?
  /// Told one line for each thing that happens, secrets masked; nil for silence.
  public var log: (@Sendable (LogLine) -> Void)?

  /// Makes a configuration for one server.
  public init(baseURL: String, cdnURL: String? = nil) {
    environment = ServerEnvironment(baseURL: baseURL, cdnURL: cdnURL)
  }

  /// Changes to one of ``environments``; no effect, and false, where none has the name.
  @discardableResult
  public mutating func use(environment name: String) -> Bool {
    guard let found = environments.first(where: { $0.name == name }) else { return false }
    environment = found
    return true
  }
}
