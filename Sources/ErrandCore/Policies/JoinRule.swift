/// Whether a call may share one exchange with equal calls that are under way.
///
/// ```swift
/// struct Stock: APIRequest {
///   var path: Path { "/stock" }
///   var joining: JoinRule { .never }  // each call asks the server itself
/// }
/// ```
///
/// A call with a ``CallOptions/bodySink`` never joins.
public enum JoinRule: Sendable, Hashable, CaseIterable {
  /// As the client says.
  case inherited
  /// Calls of a safe method join: GET, HEAD, OPTIONS, TRACE (RFC 9110 section 9.2.1). What a client does by itself.
  case safe
  /// Each call has an exchange of its own.
  case never
  /// Calls of any method join. For a POST that only asks: one that changes something is then carried out once for
  /// all that were started at the same time.
  case always

  /// The rule, or another one where this one leaves it open.
  func filled(by other: JoinRule) -> JoinRule { self == .inherited ? other : self }

  /// Whether calls of a method may join.
  func admits(_ method: HTTPMethod) -> Bool {
    switch self {
    case .inherited, .safe: method.isSafe
    case .never: false
    case .always: true
    }
  }
}
