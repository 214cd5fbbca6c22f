import ErrandSupport

/// A configuration and the objects that are made from it once: the parsed base URL, the transport, the pipeline.
/// Running calls keep the snapshot with which they started.
final class ClientSnapshot: Sendable {
  let configuration: ClientConfiguration
  let builder: RequestBuilder
  let bases: BaseURLs
  let pipeline: Result<Pipeline, APIError>
  let timers: any Timers
  let capabilities: TransportCapabilities
  let base: HTTPURL.Origin?
  let hosts: Result<HostList?, APIError>
  let cache: (any ClientCache)?
  /// The identity of the credential provider; nil if there is no provider. See ``RefreshControl/id(of:)``.
  let providerID: ObjectIdentifier?
  let transport: (any Transport)?
  let flightRecord: FlightRecord
  let flightClient: FlightClient
  /// The ``RefreshControl`` that all clients with the same provider object share; nil if each client refreshes
  /// separately.
  private let refreshing: RefreshControl?

  init(_ configuration: ClientConfiguration, _ services: ClientServices) {
    let configuration = configuration.completed
    self.configuration = configuration
    flightRecord = services.flightRecord
    let transport = Self.transport(configuration.transport, services)
    bases = BaseURLs(configuration.servers.current, others: configuration.servers.others)
    base = try? bases.main.get().origin
    hosts = Result { () throws(APIError) in try HostList(configuration.servers.current) }
    timers = configuration.timers ?? (try? transport.get())?.timers ?? SharedTimers.shared
    capabilities = (try? transport.get())?.capabilities ?? []
    self.transport = try? transport.get()
    flightClient = FlightClient(configuration, self.transport)
    providerID = configuration.credentials.map { services.refreshing.id(of: $0) }
    refreshing = (configuration.credentials as? any RefreshingProvider).flatMap { RefreshControl.shared(by: $0) }
    builder = RequestBuilder(
      configuration, bases, contentCodings: (try? transport.get())?.contentCodings ?? [])
    let cache: (any ClientCache)? =
      switch configuration.cache.store.kind {
      case .standard: services.standardCache
      case .off: nil
      case .own(let cache): cache
      }
    self.cache = cache
    pipeline = transport.map { transport in
      Pipeline(
        services.order(
          PipelineParts(
            interceptors: configuration.interceptors.calls.map { UserInterceptor(inner: $0, admission: nil) },
            exchangeInterceptors: configuration.interceptors.exchanges.map {
              UserInterceptor(inner: $0, admission: services.admission)
            },
            services: services, breaker: configuration.servers.breaker, carriesCookies: configuration.cookies.isOn,
            cache: cache, transport: transport)))
    }
  }

  /// Registers cache, cookie jars, refresh control and accessories with `sessions`. A logout then removes stored
  /// responses and cookies, cancels refreshes, and notifies the accessories. Returns objects that were registered
  /// before. The caller must keep the returned objects until it has released the lock, because their `deinit` may run
  /// code of the app.
  func register(with sessions: ClientSessions) -> [any Sendable] {
    let held = sessions.take(
      cache: cache, cookies: configuration.cookies, refreshing: refreshing, accessories: configuration.accessories)
    return held + ((configuration.credentials as? CredentialStore)?.attach(sessions) ?? [])
  }

  private static func transport(
    _ choice: TransportChoice, _ services: ClientServices
  ) -> Result<any Transport, APIError> {
    switch choice {
    case .platform: return services.platform()
    case .own(let transport): return .success(transport)
    case .named(let name):
      if let found = services.registry.transport(named: name) { return .success(found) }
      let known = services.registry.names.joined(separator: ", ")
      return .failure(
        .build(.unsupported, "No transport is registered as \"\(name)\"; the registered names are: \(known)."))
    }
  }
}

/// The objects that a client gets when it is created and keeps when its configuration changes.
package struct ClientServices: Sendable {
  let order: @Sendable (PipelineParts) -> [any Interceptor]
  let platform: @Sendable () -> Result<any Transport, APIError>
  let registry: TransportRegistry
  /// Limits the number of HTTP exchanges that run at the same time. Calls over the limit wait in a queue.
  package let admission: AdmissionControl
  package let breaking = BreakerControl()
  package let joining = JoinControl()
  /// The retry budgets, which limit how many retries the client sends.
  package let retrying = RetryControl()
  let flightRecord = FlightRecord()
  package let refreshing: RefreshControl
  package let sessions: ClientSessions
  let standardCache: (any ClientCache)?
}

/// The objects of a client from which its pipeline, a list of interceptors, is built.
package struct PipelineParts: Sendable {
  /// The interceptors of the app that run around each call.
  package let interceptors: [any Interceptor]
  /// The interceptors of the app that run around each HTTP exchange.
  package let exchangeInterceptors: [any Interceptor]
  package let services: ClientServices
  /// The rule by which the circuit breakers open; nil if the client uses no circuit breakers.
  package let breaker: BreakerRule?
  package let carriesCookies: Bool
  package let cache: (any ClientCache)?
  package let transport: any Transport

  /// The executor on which an exchange continues after its response arrives: the transport's own thread, which saves a
  /// thread switch. Nil if the transport does not offer its thread, or if interceptors of the app would run on it.
  package var executor: (any TaskExecutor)? {
    exchangeInterceptors.isEmpty ? (transport as? any ExecutorProviding)?.executor : nil
  }
}
