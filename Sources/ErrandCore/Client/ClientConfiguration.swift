import ErrandSupport

/// The configuration of a client. To change it, assign a new value or use ``APIClient/configure(_:)``. Running calls
/// keep the configuration with which they started.
public struct ClientConfiguration: Sendable {
  /// The servers that the client uses, and the circuit breaker for servers that keep failing.
  public var servers: ServerSettings
  /// The header fields of every request. The ``RequestFamily`` and the request can override them.
  public var headers = RequestHeaders()
  /// The name of the app and the arguments that the client adds to every request, and filters that may change its URL.
  public var additions = RequestAdditions()
  /// How arguments become text, and how responses are read. For a service that takes JSON, set `formats.arguments` to
  /// ``ArgumentFormat/jsonByMethod``.
  public var formats = Formats.standard

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
  /// The cache of the client, and the policies by which it stores responses.
  public var cache = CacheSettings()
  /// What happens while equal calls are running. By default, calls with a safe method (RFC 9110, section 9.2.1) share
  /// an exchange, and all calls run. A rule for ``Overlap/repeats`` applies to each request type of the client, also to
  /// the members of a batch.
  public var overlap = Overlap.standard
  /// What every response must fulfil. By default, the status must be 200 to 299, and there is no envelope.
  public var validation = ResponseValidation.standard

  /// The credential provider, which knows the account that is logged in and its credential; nil for none.
  public var credentials: (any CredentialProvider)?
  /// Decides whether cookies are stored and sent; by default they are not.
  public var cookies = CookieRule.off
  /// Code of the app that runs around calls and around HTTP exchanges.
  public var interceptors = Interceptors()
  /// Accessories, which observe every call and every group of the client.
  public var accessories: [any Accessory] = []
  /// The limits on exchanges that run at the same time.
  public var admission = AdmissionLimits()
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

  /// Makes a configuration for one server. With an empty base URL the client sends only requests with absolute URLs, as
  /// a crawler does.
  public init(baseURL: String, cdnURL: String? = nil) {
    servers = ServerSettings(ServerEnvironment(baseURL: baseURL, cdnURL: cdnURL))
  }

  /// A copy in which the settings that the client declares as inherited have their defaults.
  var completed: ClientConfiguration {
    var configuration = self
    configuration.formats = formats.filled(by: .standard)
    configuration.overlap = overlap.filled(by: .standard)
    configuration.validation = validation.filled(by: .standard)
    return configuration
  }
}

/// Properties that are not available. The compiler rejects a use of one of them and names the right property.
extension ClientConfiguration {
  /// Not available. The base URL belongs to the environment in use.
  @available(*, unavailable, message: "write `servers.current.baseURL`")
  public var baseURL: String {
    get { servers.current.baseURL }
    set { servers.current.baseURL = newValue }
  }

  /// Not available. The URL of the CDN belongs to the environment in use.
  @available(*, unavailable, message: "write `servers.current.cdnURL`")
  public var cdnURL: String? {
    get { servers.current.cdnURL }
    set { servers.current.cdnURL = newValue }
  }
}

/// The servers of a client: the environment in use, others that requests can name, and the circuit breaker for servers
/// that keep failing.
public struct ServerSettings: Sendable, Hashable {
  /// The environment that the client uses: base URL and CDN.
  public var current: ServerEnvironment
  /// Other environments, which requests can name and ``use(_:)`` can select.
  public var others: [ServerEnvironment]
  /// The rule of the circuit breaker, by which calls to an origin fail at once if the origin keeps failing; nil for no
  /// circuit breaker.
  public var breaker: BreakerRule?

  /// Makes the servers of a client.
  public init(_ current: ServerEnvironment, others: [ServerEnvironment] = [], breaker: BreakerRule? = nil) {
    self.current = current
    self.others = others
    self.breaker = breaker
  }

  /// Selects an environment by its name: one of ``others``, or the current one. The environment that was current is
  /// kept in ``others``, in place of one of its name, so it can be selected again.
  /// - Returns: False if no environment has the name. Then nothing changes.
  public mutating func use(_ name: String) -> Bool {
    if current.name.hasSameBytes(as: name) { return true }
    guard let found = others.named(name) else { return false }
    let former = current
    if let place = others.firstIndex(where: { $0.name.hasSameBytes(as: former.name) }) {
      others[place] = former
    } else {
      others.append(former)
    }
    current = found
    return true
  }

  func environment(named name: String) -> ServerEnvironment? { ([current] + others).named(name) }

  /// The base URLs of all environments and the URLs of their CDNs.
  var urls: [String?] { ([current] + others).flatMap { [$0.baseURL, $0.cdnURL] } }

  /// The names of all environments, the current one first, each once.
  var names: [String] {
    var seen: Set<ByteText> = []
    return ([current] + others).map(\.name).filter { seen.insert(ByteText($0)).inserted }
  }
}

/// What a client adds to every request, besides header fields.
public struct RequestAdditions: Sendable {
  /// The name of the app, sent as `User-Agent` unless headers set another value; empty to send none.
  public var userAgent: String
  /// Arguments that are added to the query of every request. The closure is called once per call.
  public var arguments: (@Sendable () -> Arguments)?
  /// Arguments that are added to every form and JSON body. The closure is called once per call.
  ///
  /// A request whose arguments would go into a form or a JSON body, such as a POST, gets such a body of these arguments
  /// if it has neither arguments nor a body. To send no body, the request declares ``ArgumentFormat/query``.
  public var bodyArguments: (@Sendable () -> Arguments)?
  /// Filters that may change the URL of each request. They are applied in the order of the array.
  public var filters: [URLFilter]

  /// Makes additions. By default, only the `User-Agent` is added.
  public init(
    userAgent: String = "Errand", arguments: (@Sendable () -> Arguments)? = nil,
    bodyArguments: (@Sendable () -> Arguments)? = nil,
    filters: [URLFilter] = []
  ) {
    self.userAgent = userAgent
    self.arguments = arguments
    self.bodyArguments = bodyArguments
    self.filters = filters
  }

  /// Whether the additions run code of the app while a request is built.
  var runsCode: Bool { !filters.isEmpty || arguments != nil || bodyArguments != nil }
}

/// The cache of a client, and the policies by which it stores responses.
///
/// ```swift
/// configuration.cache.policy = .http
/// ```
public struct CacheSettings: Sendable {
  /// Where responses are stored; by default in memory.
  public var store: CacheChoice
  /// The cache policy of calls for which neither the request, nor its ``RequestFamily``, nor ``rules`` declares a
  /// policy.
  public var policy: CachePolicy
  /// The cache policies of certain hosts. A policy of the request or of its ``RequestFamily`` overrides these rules.
  /// The first rule that matches the host applies.
  public var rules: [HostCacheRule]
  /// The names of cookies that the cache ignores. The names apply to cookies from a cookie jar. Requests that differ
  /// only in these cookies use the same stored response and may share an exchange. An example is the cookie of a load
  /// balancer, which changes with every response. The cookies are sent as usual. Empty by default.
  ///
  /// - Warning: Requests that differ only in these cookies share their responses. Never name a cookie that selects the
  ///   content: a session, a login, a language, an A/B test. Names are compared byte by byte. A `Cookie` header that
  ///   the request itself sets is not affected.
  public var ignoredCookies: Set<String>
  /// The version of the app. Cache entries that another version of the app stored are never used.
  public var appVersion: String

  /// Makes the settings of a cache. By default, the cache is in memory, and no response is stored unless a request or
  /// its family declares a policy.
  public init(
    store: CacheChoice = .standard, policy: CachePolicy = .none, rules: [HostCacheRule] = [],
    ignoredCookies: Set<String> = [], appVersion: String = ""
  ) {
    self.store = store
    self.policy = policy
    self.rules = rules
    self.ignoredCookies = ignoredCookies
    self.appVersion = appVersion
  }
}

/// The interceptors of an app.
public struct Interceptors: Sendable {
  /// Interceptors that run around every call, outermost first. They receive undecoded responses, after redirects.
  public var calls: [any Interceptor]
  /// Interceptors that run around every HTTP exchange, outermost first. They receive each request exactly as it is
  /// sent. An interceptor that signs requests belongs here.
  public var exchanges: [any Interceptor]

  /// Makes interceptors. By default there are none.
  public init(calls: [any Interceptor] = [], exchanges: [any Interceptor] = []) {
    self.calls = calls
    self.exchanges = exchanges
  }
}
