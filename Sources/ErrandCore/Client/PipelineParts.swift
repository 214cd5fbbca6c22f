/// The parts from which the order of the interceptors is built.
package struct PipelineParts: Sendable {
  /// The interceptors of the app that run around each call.
  package let interceptors: [any Interceptor]
  /// The interceptors of the app that run around each exchange.
  package let exchangeInterceptors: [any Interceptor]
  /// The sessions of the accounts that use the client.
  package let sessions: ClientSessions
  /// The admission queue of the client.
  package let admission: AdmissionControl
  /// The circuit breakers, one for each origin.
  package let breaking: BreakerControl
  /// The rule by which a circuit breaker opens; nil if no circuit breaker is used.
  package let breaker: BreakerRule?
  /// Refreshes credentials.
  package let refreshing: RefreshControl
  /// The budgets for retries.
  package let retrying: RetryControl
  /// The exchanges that calls of the client share.
  package let joining: JoinControl
  /// Whether cookies are stored and sent.
  package let carriesCookies: Bool
  /// The cache; nil for none.
  package let cache: (any ClientCache)?
  /// The transport.
  package let transport: any Transport

  /// The executor on which an exchange continues after its response arrives: the transport's own thread, which saves a
  /// thread switch. Nil if the transport does not offer its thread, or if interceptors of the app would run on it.
  package var executor: (any TaskExecutor)? {
    exchangeInterceptors.isEmpty ? (transport as? any ThreadLending)?.executor : nil
  }
}
