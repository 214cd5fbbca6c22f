/// The stations that a call goes through, in order.
final class Line: Sendable {
  private struct Stop: Sendable {
    let station: any Interceptor
    /// The same, where it says itself which calls it is for; nil for one that all calls stop at.
    let selective: (any SelectiveStation)?
  }

  private let stops: [Stop]

  init(_ stations: [any Interceptor]) {
    stops = stations.map { Stop(station: $0, selective: $0 as? any SelectiveStation) }
  }

  func run(_ request: HTTPRequest, from index: Int, _ context: CallContext) async throws -> HTTPResponse {
    let place = place(for: request, from: index, context)
    guard place < stops.count else { throw TransportFailure(.other, "the line has no transport at its end") }
    let next = Next(line: self, index: place + 1, context: context, isForUserCode: false)
    return try await stops[place].station.intercept(request, context: context, next: next)
  }

  /// Where the next station is that has something to do. Apart, so that a call that waits below holds no room for the
  /// question.
  @inline(never)
  private func place(for request: HTTPRequest, from index: Int, _ context: CallContext) -> Int {
    var place = index
    while place < stops.count, stops[place].selective?.concerns(request, context) == false { place += 1 }
    return place
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
