public import ErrandJSON

/// The configuration of a client. To change it, assign a new value or use ``APIClient/configure(_:)``. Running calls
/// keep the configuration with which they started.
public struct ClientConfiguration: Sendable {
  /// The servers that the client uses: base URL and CDN.
  public var environment: ServerEnvironment
  /// Other environments, which requests can name and ``use(environment:)`` can select.
  public var environments: [ServerEnvironment] = []

  /// The header fields of every request. The ``RequestFamily`` and the request can override them.
  public var headers = RequestHeaders()
  /// The name of the app, sent as `User-Agent` unless headers set another value.
  public var userAgent = "Errand"
  /// Arguments that are added to the query of every request. The closure is called once per call.
  public var commonArguments: (@Sendable () -> Arguments)?
  /// Arguments that are added to every form and JSON body. The closure is called once per call.
  public var commonBodyArguments: (@Sendable () -> Arguments)?
  /// Filters that may change the URL of each request. They are applied in the order of the array.
  public var filters: [URLFilter] = []
  /// The part of a request that contains the arguments: the query, a form or a JSON body. Use
  /// ``ArgumentFormat/jsonByMethod`` for a service that takes JSON.
  public var argumentFormat = ArgumentFormat.byMethod
  /// How arguments are written as text: for example the form of dates, lists and Boolean values.
  public var argumentStyle = ArgumentStyle()

  /// The time-outs of each call. If a time-out is nil, its default applies: 10 seconds to connect, 60 seconds without
  /// data (idle), and 120 seconds in total. A call that streams a body or downloads to a file has no total time-out by
  /// default.
  public var timeouts = Timeouts()
  /// The limits on the size of responses.
  public var limits = ResponseLimits()
  /// Decides which redirects are followed.
  public var redirects = RedirectPolicy.follow()
  /// Decides which failed calls are sent again; by default none.
  public var retries = RetryPolicy.none
  /// The cache of the client; by default a cache in memory.
  public var cache: CacheChoice = .standard
  /// The cache policy of calls for which neither the request, nor its ``RequestFamily``, nor ``cacheRules`` declares a
  /// policy.
  public var cachePolicy: CachePolicy = .none
  /// The cache policies of certain hosts. A policy of the request or of its ``RequestFamily`` overrides these rules.
  /// The first rule that matches the host applies.
  public var cacheRules: [HostCacheRule] = []
  /// The names of cookies that the cache ignores. The names apply to cookies from a cookie jar. Requests that differ
  /// only in these cookies use the same stored response and may share an exchange. An example is the cookie of a load
  /// balancer, which changes with every response. The cookies are sent as usual. Empty by default.
  ///
  /// - Warning: Requests that differ only in these cookies share their responses. Never name a cookie that selects the
  ///   content: a session, a login, a language, an A/B test. Names are compared byte by byte. A `Cookie` header that
  ///   the request itself sets is not affected.
  public var cookiesIgnoredByCache: Set<String> = []
  /// The version of the app. Cache entries that another version of the app stored are never used.
  public var appVersion = ""
  /// Decides which running calls with equal requests share one HTTP exchange. A rule of the request or of its
  /// ``RequestFamily`` overrides this rule. By default, calls with a safe method (RFC 9110, section 9.2.1) share an
  /// exchange.
  public var joining = JoinRule.safe
  /// The status codes that count as success.
  public var statusRule = StatusRule.success
  /// The envelope of every response body: the JSON object around the value, such as `{"code": 0, "data": …}`. None by
  /// default.
  public var envelope = Envelope.none
  /// The format of error bodies, and of responses whose request declares no decoder; nil for JSON. It applies to all
  /// `Decodable` response types except bytes, strings and ``ErrandJSON/JSONValue``.
  public var responseFormat: (any ResponseFormat)?
  /// The rules for decoding JSON. By default, Errand's own decoder uses Foundation's default strategies.
  public var jsonDecoding = JSONDecoding.fast
  /// The rules for encoding JSON. By default, Errand's own encoder uses Foundation's default strategies and sorts the
  /// members of objects.
  public var jsonEncoding = JSONEncoding.fast

  /// The credential provider, which knows the account that is logged in and its credential; nil for none.
  public var credentials: (any CredentialProvider)?
  /// Decides whether cookies are stored and sent; by default they are not.
  public var cookies = CookieRule.off
  /// Interceptors that run around every call, outermost first. They receive undecoded responses, after redirects.
  public var interceptors: [any Interceptor] = []
  /// Interceptors that run around every HTTP exchange, outermost first. They receive each request exactly as it is
  /// sent. An interceptor that signs requests belongs here.
  public var exchangeInterceptors: [any Interceptor] = []
  /// Accessories, which observe every call and every group of the client.
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

  /// What the client records about its calls in ``APIClient/flightRecord``; by default nothing.
  public var record = FlightRecording.off
  /// Follows every call of the client and its exchanges, for tracing and metrics; nil for none.
  package var tracer: (any CallTracer)?

  /// Makes a configuration for one server.
  public init(baseURL: String, cdnURL: String? = nil) {
    environment = ServerEnvironment(baseURL: baseURL, cdnURL: cdnURL)
  }

  /// Selects one of ``environments`` by its name. If no environment has the name, returns false and changes nothing.
  @discardableResult
  public mutating func use(environment name: String) -> Bool {
    guard let found = environments.named(name) else { return false }
    environment = found
    return true
  }
}
