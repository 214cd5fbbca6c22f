/// The hooks of a request that run before and after its completion, for success and for failure.
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
  ///   - before: Does not run on the callback executor, but in a task that is cancelled when the call is cancelled. The
  ///     call waits for the hook before it calls the delegate and the closure. A later cancel may still replace the
  ///     outcome that the hook received. If the deadline of the call has passed, the task is not cancelled, so that the
  ///     hook can still do work; the call then waits until the hook returns.
  ///   - after: Runs on the callback executor, before the delegate and the closure.
  public init(
    before: (@Sendable (Outcome<Value>) async -> Void)? = nil, after: (@Sendable (Outcome<Value>) -> Void)? = nil
  ) {
    self.before = before
    self.after = after
  }
}
