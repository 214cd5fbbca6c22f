/// What happens where a call is started while another one of the same request type and owner is under way.
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
/// Whatever the requests hold, it is their type that counts, and to have no owner is an owner, too. Each client counts
/// for itself. Calls that were started with ``runAll`` are not counted. Every call has its one end: one that is not
/// carried out fails, and its accessories hear of it.
public enum RepeatRule: Sendable, Hashable {
  /// All of them run. Costs nothing.
  case runAll
  /// Those that are under way are cancelled.
  case cancelPrevious
  /// The new one fails at once, with stage ``APIError/Stage/admission`` and code ``APIError/Code/repeated``.
  case ignoreNew
  /// The new one waits on the client's clock before it is built, and a newer one that comes meanwhile cancels it. One
  /// that has begun goes on. The wait counts against the deadline.
  case debounce(Duration)
}
