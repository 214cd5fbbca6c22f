/// What happens while equal calls, or calls with the same request type, are running.
///
/// ```swift
/// var overlap: Overlap { Overlap(joining: .never, repeats: .cancelPrevious) }
/// ```
///
/// A request, its ``RequestFamily`` and the client each have these rules. Each rule that is not declared is inherited.
public struct Overlap: Sendable, Hashable {
  /// Decides whether a call may share one exchange with equal running calls.
  public var joining: JoinRule
  /// Decides what happens if a call starts while another call with the same request type and the same owner is running.
  /// The rule is read when the call starts.
  public var repeats: RepeatRule

  /// Makes rules. A rule that is not given is inherited.
  public init(joining: JoinRule = .inherited, repeats: RepeatRule = .inherited) {
    self.joining = joining
    self.repeats = repeats
  }

  /// Both rules are inherited from the ``RequestFamily`` or the client.
  public static let inherited = Overlap()
  /// The defaults of a client.
  static let standard = Overlap(joining: .safe, repeats: .runAll)

  /// Returns these rules, with inherited rules taken from `other`.
  func filled(by other: Overlap?) -> Overlap {
    Overlap(joining: joining.filled(by: other?.joining), repeats: repeats.filled(by: other?.repeats))
  }
}

/// Whether a call may share one HTTP exchange with equal calls that are running.
///
/// ```swift
/// struct Stock: APIRequest {
///   var path: Path { "/stock" }
///   var overlap: Overlap { Overlap(joining: .never) }  // each call asks the server itself
/// }
/// ```
///
/// A call with a ``CallOptions/bodySink`` never shares an exchange.
public enum JoinRule: Sendable, Hashable, CaseIterable {
  /// The rule is inherited from the request, from its ``RequestFamily`` or from the client.
  case inherited
  /// Calls with a safe method share an exchange: GET, HEAD, OPTIONS, QUERY, TRACE (RFC 9110 section 9.2.1). This rule
  /// is the default of a client.
  case safe
  /// Each call has a separate exchange.
  case never
  /// Calls with any method share an exchange. Use this rule for a POST that only reads data. If the POST changes data,
  /// the change is made only once for all calls that share the exchange.
  case always

  func filled(by other: JoinRule?) -> JoinRule { self == .inherited ? other ?? self : self }

  /// Whether this rule allows calls with the given method to share an exchange.
  func admits(_ method: HTTPMethod) -> Bool {
    switch self {
    case .inherited, .safe: method.isSafe
    case .never: false
    case .always: true
    }
  }
}

/// The rule for a call that is started while another call with the same request type and the same ``CallOwner`` is
/// running.
///
/// ```swift
/// struct Search: APIRequest {
///   let text: String
///   var path: Path { "/search" }
///   var arguments: Arguments { ["q": text] }
///   var overlap: Overlap { Overlap(repeats: .debounce(.milliseconds(300))) }
///   typealias Response = String
/// }
/// ```
///
/// The content of the requests does not matter. All calls without an owner are treated like calls of one owner. Calls
/// of different clients do not affect each other. A call with the rule ``runAll`` is not affected by other calls, and
/// does not affect them. If a rule rejects or cancels a call, the call fails, and its accessories are notified.
public enum RepeatRule: Sendable, Hashable {
  /// The rule is inherited from the ``RequestFamily`` or from the client; ``runAll`` if neither of them declares one.
  case inherited
  /// All calls run. The client does not keep track of these calls.
  case runAll
  /// The earlier calls are cancelled, and the new call runs.
  case cancelPrevious
  /// The new call fails at once, with stage ``APIError/Stage/admission`` and code ``APIError/Code/repeated``.
  case ignoreNew
  /// The earlier calls are cancelled, and the new call waits for this duration before its request is built. The
  /// earlier calls are cancelled when the new call is started, both those that still wait and those that were sent, so
  /// no old response follows a newer one. The clock of the client measures the wait, and the wait counts against the
  /// deadline of the call.
  case debounce(Duration)

  func filled(by other: RepeatRule?) -> RepeatRule { self == .inherited ? other ?? self : self }
}
