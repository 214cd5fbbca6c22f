/// A configuration and what is made of it once: the parsed base URL, the transport, the line. Running calls keep theirs.
final class ClientSnapshot: Sendable {
  let configuration: ClientConfiguration
  let builder: RequestBuilder
  let line: Result<Line, APIError>
  let timers: any Timers
  let capabilities: TransportCapabilities
  let base: HTTPURL.Origin?
  let hosts: Result<HostList?, APIError>
  let cache: (any AnswerCache)?
  /// Tells the provider of credentials from others: an object by itself, a value by its client.
  let providerID: ObjectIdentifier?
  let transport: (any Transport)?
  /// Who refreshes for the provider on every client that uses it; nil where each client does for itself.
  private let refreshing: RefreshControl?

  init(_ configuration: ClientConfiguration, _ fittings: ClientFittings) {
    self.configuration = configuration
    let transport = Self.transport(configuration.transport, fittings)
    let base = RequestBuilder.parse(base: configuration.environment.baseURL)
    self.base = try? base.get().origin
    hosts = Result { () throws(APIError) in try HostList(configuration.environment) }
    timers = configuration.timers ?? (try? transport.get())?.timers ?? SharedTimers.shared
    capabilities = (try? transport.get())?.capabilities ?? []
    self.transport = try? transport.get()
    providerID = configuration.credentials.map { fittings.refreshing.id(of: $0) }
    refreshing = (configuration.credentials as? any RefreshingProvider).flatMap { RefreshControl.shared(by: $0) }
    builder = RequestBuilder(
      configuration, base: base, contentCodings: (try? transport.get())?.contentCodings ?? [])
    let cache: (any AnswerCache)? =
      switch configuration.cache.kind {
      case .standard: fittings.standardCache
      case .off: nil
      case .own(let cache): cache
      }
    self.cache = cache
    line = transport.map { transport in
      Line(
        fittings.order(
          LineParts(
            interceptors: configuration.interceptors.map { UserStation(inner: $0, admission: nil) },
            exchangeInterceptors: configuration.exchangeInterceptors.map {
              UserStation(inner: $0, admission: fittings.admission)
            },
            sessions: fittings.sessions, admission: fittings.admission, breaking: fittings.breaking,
            breaker: configuration.breaker, refreshing: fittings.refreshing, retrying: fittings.retrying,
            joining: fittings.joining, carriesCookies: configuration.cookies.isOn, cache: cache,
            transport: transport)))
    }
  }

  /// Whoever logs accounts out reaches the client, and what it has now. Returns what was held meanwhile, and may die when
  /// it is let go: the app's own, which must not die under a lock.
  func settle(in sessions: ClientSessions) -> [any Sendable] {
    let held = sessions.take(
      cache: cache, cookies: configuration.cookies, refreshing: refreshing, accessories: configuration.accessories)
    return held + ((configuration.credentials as? CredentialStore)?.attach(sessions) ?? [])
  }

  private static func transport(
    _ choice: TransportChoice, _ fittings: ClientFittings
  ) -> Result<any Transport, APIError> {
    switch choice {
    case .platform: return fittings.platform()
    case .own(let transport): return .success(transport)
    case .named(let name):
      if let found = fittings.registry.transport(named: name) { return .success(found) }
      let known = fittings.registry.names.joined(separator: ", ")
      return .failure(.build(.unsupported, "There is no transport \"\(name)\"; registered are: \(known)."))
    }
  }
}

/// What a client is fitted with when it is made, and keeps.
struct ClientFittings: Sendable {
  let order: @Sendable (LineParts) -> [any Interceptor]
  let platform: @Sendable () -> Result<any Transport, APIError>
  let registry: TransportRegistry
  let admission: AdmissionControl
  let breaking = BreakerControl()
  let joining = JoinControl()
  let retrying = RetryControl()
  let refreshing: RefreshControl
  let sessions: ClientSessions
  let standardCache: (any AnswerCache)?
}
