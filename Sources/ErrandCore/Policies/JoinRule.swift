/// Whether a call may share one HTTP exchange with equal calls that are running.
///
/// ```swift
/// struct Stock: APIRequest {
///   var path: Path { "/stock" }
///   var joining: JoinRule { .never }  // each call asks the server itself
/// }
/// ```
///
/// A call with a ``CallOptions/bodySink`` never shares an exchange.
public enum JoinRule: Sendable, Hashable, CaseIterable {
  /// The rule is inherited from the request, from its ``RequestFamily`` or from the client.
  case inherited
  /// Calls with a safe method share an exchange: GET, HEAD, OPTIONS, TRACE (RFC 9110 section 9.2.1). This rule is the
  /// default of a client.
  case safe
  /// Each call has a separate exchange.
  case never
  /// Calls with any method share an exchange. Use this rule for a POST that only reads data. If the POST changes data,
  /// the change is made only once for all calls that share the exchange.
  case always

  /// Returns this rule, or `other` if this rule is ``inherited``.
  func filled(by other: JoinRule) -> JoinRule { self == .inherited ? other : self }

  /// Whether this rule allows calls with the given method to share an exchange.
  func admits(_ method: HTTPMethod) -> Bool {
    switch self {
    case .inherited, .safe: method.isSafe
    case .never: false
    case .always: true
    }
  }
}
