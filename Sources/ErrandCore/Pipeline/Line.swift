/// The stations that a call goes through, in order.
final class Line: Sendable {
  private let stations: [any Interceptor]

  init(_ stations: [any Interceptor]) { self.stations = stations }

  func run(_ request: HTTPRequest, from index: Int, _ context: CallContext) async throws -> HTTPResponse {
    guard index < stations.count else { throw TransportFailure(.other, "the line has no transport at its end") }
    let next = Next(line: self, index: index + 1, context: context, isForUserCode: false)
    return try await stations[index].intercept(request, context: context, next: next)
  }
}

/// What the standard order of the line is made of.
package struct LineParts: Sendable {
  /// Interceptors of the app, around the call.
  package let interceptors: [any Interceptor]
  /// Interceptors of the app, around the exchange.
  package let exchangeInterceptors: [any Interceptor]
  /// The sessions of accounts.
  package let sessions: ClientSessions
  /// The queue of the client.
  package let admission: AdmissionControl
  /// What is known of origins that keep failing.
  package let breaking: BreakerControl
  /// When an origin is left alone; nil for never.
  package let breaker: BreakerRule?
  /// Who gets new credentials.
  package let refreshing: RefreshControl
  /// The budgets for new attempts.
  package let retrying: RetryControl
  /// The exchanges that calls of the client share.
  package let joining: JoinControl
  /// Whether cookies are kept.
  package let carriesCookies: Bool
  /// The cache; nil for none.
  package let cache: (any AnswerCache)?
  /// The transport.
  package let transport: any Transport

  /// Where an exchange goes on once its answer is there: on the transport's own thread, which saves a hop; nil where
  /// the transport lends none, or code of the app would run there.
  package var executor: (any TaskExecutor)? {
    exchangeInterceptors.isEmpty ? (transport as? any ThreadLending)?.executor : nil
  }
}
