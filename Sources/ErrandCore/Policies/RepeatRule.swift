/// The rule for a call that is started while another call with the same request type and the same ``CallOwner`` is
/// running.
///
/// ```swift
/// struct Search: APIRequest {
///   let text: String
///   var path: Path { "/search" }
///   var arguments: Arguments { ["q": text] }
///   var repeats: RepeatRule { .debounce(.milliseconds(300)) }
///   typealias Response = String
/// }
/// ```
///
/// The content of the requests does not matter. All calls without an owner are treated like calls of one owner. Calls
/// of different clients do not affect each other. A call with the rule ``runAll`` is not affected by other calls, and
/// does not affect them. If a rule rejects or cancels a call, the call fails, and its accessories are notified.
public enum RepeatRule: Sendable, Hashable {
  /// All calls run. The client does not keep track of these calls.
  case runAll
  /// The earlier calls are cancelled, and the new call runs.
  case cancelPrevious
  /// The new call fails at once, with stage ``APIError/Stage/admission`` and code ``APIError/Code/repeated``.
  case ignoreNew
  /// The new call waits for this duration before its request is built. A newer call cancels a call that is still
  /// waiting, but not a call whose wait is over. The clock of the client measures the wait, and the wait counts against
  /// the deadline of the call.
  case debounce(Duration)
}
