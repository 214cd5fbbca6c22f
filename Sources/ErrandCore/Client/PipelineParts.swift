/// The objects of a client from which its pipeline, a list of interceptors, is built.
package struct PipelineParts: Sendable {
  /// The interceptors of the app that run around each call.
  package let interceptors: [any Interceptor]
  /// The interceptors of the app that run around each HTTP exchange.
  package let exchangeInterceptors: [any Interceptor]
  /// Ends the login sessions of accounts on the client.
  package let sessions: ClientSessions
  /// Limits the number of HTTP exchanges that run at the same time. Calls over the limit wait in a queue.
  package let admission: AdmissionControl
  /// The circuit breakers, one for each origin.
  package let breaking: BreakerControl
  /// The rule by which the circuit breakers open; nil if the client uses no circuit breakers.
  package let breaker: BreakerRule?
  /// Refreshes credentials for the calls of the client.
  package let refreshing: RefreshControl
  /// The retry budgets, which limit how many retries the client sends.
  package let retrying: RetryControl
  /// The HTTP exchanges that several calls with equal requests share.
  package let joining: JoinControl
  /// True if the client stores cookies and sends them.
  package let carriesCookies: Bool
  /// The cache of the client; nil for none.
  package let cache: (any ClientCache)?
  /// The transport, which performs the HTTP exchanges.
  package let transport: any Transport

  /// The executor on which an exchange continues after its response arrives: the transport's own thread, which saves a
  /// thread switch. Nil if the transport does not offer its thread, or if interceptors of the app would run on it.
  package var executor: (any TaskExecutor)? {
    exchangeInterceptors.isEmpty ? (transport as? any ExecutorProviding)?.executor : nil
  }
}
