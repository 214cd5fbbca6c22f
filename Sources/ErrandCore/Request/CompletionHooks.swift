/// The two hooks of a request. They run at the end of each call, successful or failed, before the delegate and the
/// completion closure of the call are called.
///
/// ```swift
/// var hooks: CompletionHooks<Response>? {
///   CompletionHooks(before: { outcome in await store(outcome.value) }, after: { outcome in … })
/// }
/// ```
public final class CompletionHooks<Value: Sendable>: Sendable {
  let before: (@Sendable (Outcome<Value>) async -> Void)?
  let after: (@Sendable (Outcome<Value>) -> Void)?

  /// Makes the hooks of a request.
  ///
  /// The call waits until the closure `before` has returned. If the call is cancelled, the task in which `before` runs
  /// is also cancelled. If the call is cancelled while `before` runs, the call may end as cancelled, although `before`
  /// received another outcome. If the deadline of the call has passed, the task is not cancelled, so that `before` can
  /// still do work.
  ///
  /// - Parameters:
  ///   - before: The hook that runs first, after the outcome of the call is known. It runs in a task, not on the
  ///     ``CallbackExecutor``.
  ///   - after: The hook that runs second, on the ``CallbackExecutor``. The delegate and the completion closure of the
  ///     call are called after this hook. If the hook cancels the call, they receive a cancellation, although the hook
  ///     received another outcome.
  public init(
    before: (@Sendable (Outcome<Value>) async -> Void)? = nil, after: (@Sendable (Outcome<Value>) -> Void)? = nil
  ) {
    self.before = before
    self.after = after
  }
}
