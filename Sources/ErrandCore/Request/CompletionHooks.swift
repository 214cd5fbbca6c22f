/// What a request does around its own completion, in success and failure.
///
/// ```swift
/// var hooks: CompletionHooks<Response>? {
///   CompletionHooks(before: { outcome in await store(outcome.value) }, after: { outcome in … })
/// }
/// ```
public final class CompletionHooks<Value: Sendable>: Sendable {
  let before: (@Sendable (Outcome<Value>) async -> Void)?
  let after: (@Sendable (Outcome<Value>) -> Void)?

  /// Makes hooks.
  ///
  /// - Parameters:
  ///   - before: Runs off the callback executor, in a task that a cancel reaches, and is awaited before anybody is
  ///     told. A cancel that comes later may still turn the outcome it saw. For a call whose deadline has passed the task
  ///     is an ordinary one, so that it can tell somebody; nothing but its own end ends it then.
  ///   - after: Runs on the callback executor, before the delegate and the closure.
  public init(
    before: (@Sendable (Outcome<Value>) async -> Void)? = nil, after: (@Sendable (Outcome<Value>) -> Void)? = nil
  ) {
    self.before = before
    self.after = after
  }
}
