/// Follows the calls of a client, their exchanges and its groups, for tracing and metrics. See
/// ``ClientConfiguration/tracer``.
///
/// A client without a tracer spends one comparison on it per call, per group, per exchange and per request that may
/// share an exchange.
package protocol CallTracer: Sendable {
  /// Called when a call starts, in the task that starts it, so that the function can read task-local values.
  ///
  /// - Parameters:
  ///   - call: The identity of the call.
  ///   - timers: The clock of the call.
  /// - Returns: The object that follows the call; nil if the call is not followed.
  func begin(_ call: CallInfo, _ timers: any Timers) -> (any CallTrace)?
  /// Called when a group starts, in the task that starts it, so that the function can read task-local values.
  ///
  /// - Parameters:
  ///   - group: The identity of the group.
  ///   - timers: The clock of the group.
  /// - Returns: The object that follows the group; nil if the group is not followed.
  func begin(_ group: GroupInfo, _ timers: any Timers) -> (any GroupTrace)?
}

/// Follows one call. The exchanges of a call may run concurrently, and may end after the call.
package protocol CallTrace: Sendable {
  /// Called immediately before a request is passed to the transport. The function may add and remove header fields.
  ///
  /// - Parameter isFirstOrigin: Whether the server is that of the call's first request or one of its fallback servers.
  /// - Returns: The object that follows the exchange; nil if the exchange is not followed.
  func begin(_ request: inout HTTPRequest, isFirstOrigin: Bool) -> (any ExchangeTrace)?
  /// The values that ``begin(_:isFirstOrigin:)`` sends with a request and that a server may read, such as baggage; nil
  /// for none. Only calls with the same values share an exchange. Called for each request that may share one.
  func values(for request: HTTPRequest, isFirstOrigin: Bool) -> String?
  /// Called once when the outcome of the call is final, before the caller receives it.
  func ended(_ outcome: Outcome<Void>)
}

/// Follows one exchange. Either ``answered(_:)`` or ``failed(_:)`` is called, once, at the end.
package protocol ExchangeTrace: Sendable {
  /// The transport sends the request once more, because a reused connection closed before the first byte of a response.
  func repeated()
  /// The transport opened a connection for the exchange. Returns the observer of the connection; nil if the connection
  /// is not observed.
  func connected() -> (any ConnectionObserver)?
  /// The exchange ended with a response.
  func answered(_ response: HTTPResponse)
  /// The exchange ended without a response, or the call abandoned it.
  func failed(_ error: any Error)
}

/// Follows one run of a group, such as a batch or a chain.
package protocol GroupTrace: Sendable {
  /// Runs the body of the group on the caller's executor. In the tasks of the body, the group is the parent of the calls
  /// and groups that start.
  func during<Value>(_ body: () async -> Value) async -> Value
  /// Called once when the outcome of the group is final, before the caller receives it.
  func ended(_ outcome: GroupOutcome<Void>)
}
