/// What happens if a call is started while another call with the same request type and owner is running.
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
/// Calls are compared by the type of their request, not by its content. Calls without an owner form one group. Each
/// client counts separately. Calls that were started with ``runAll`` are not counted. A call that is not carried out
/// fails, and its accessories are notified.
public enum RepeatRule: Sendable, Hashable {
  /// All calls run. Has no cost.
  case runAll
  /// Calls that are under way are cancelled.
  case cancelPrevious
  /// The new call fails at once, with stage ``APIError/Stage/admission`` and code ``APIError/Code/repeated``.
  case ignoreNew
  /// The new call waits before its request is built. A newer call during the wait cancels the waiting call; after the
  /// wait, a newer call does not. The client's clock measures the wait, which counts against the deadline.
  case debounce(Duration)
}
