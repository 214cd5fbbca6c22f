/// Who is notified of the calls of a request, in addition to the caller: hooks, accessories and loading indicators.
///
/// ```swift
/// var delivery: Delivery<Response> {
///   Delivery(beforeCompletion: { outcome in await store(outcome.value) }, indicator: .named("basket"))
/// }
/// ```
public struct Delivery<Value: Sendable>: Sendable {
  /// The hook that runs at the end of each call, successful or failed, after the outcome of the call is known; nil for
  /// none. It runs in a task, not on the ``CallbackExecutor``, and the call waits until it has returned.
  ///
  /// If the call is cancelled, the task in which the hook runs is also cancelled. If the call is cancelled while the
  /// hook runs, the call may end as cancelled, although the hook received another outcome. If the deadline of the call
  /// has passed, the task is not cancelled, so that the hook can still do work.
  public var beforeCompletion: (@Sendable (Outcome<Value>) async -> Void)?
  /// The hook that runs second, on the ``CallbackExecutor``, or on the caller's executor for `send`; nil for none. The
  /// delegate and the completion closure of the call are called after this hook. If the hook cancels the call, they
  /// receive a cancellation, although the hook received another outcome.
  public var afterCompletion: (@Sendable (Outcome<Value>) -> Void)?
  /// The observers of calls of the request, in addition to the accessories of the client and the call.
  public var accessories: [any Accessory]
  /// Chooses the ``LoadingIndicator`` that counts the running calls of the request.
  public var indicator: IndicatorChoice

  /// Makes a delivery. By default there are no hooks and no accessories, and the client's indicators without a name
  /// count the calls.
  public init(
    beforeCompletion: (@Sendable (Outcome<Value>) async -> Void)? = nil,
    afterCompletion: (@Sendable (Outcome<Value>) -> Void)? = nil, accessories: [any Accessory] = [],
    indicator: IndicatorChoice = .inherited
  ) {
    self.beforeCompletion = beforeCompletion
    self.afterCompletion = afterCompletion
    self.accessories = accessories
    self.indicator = indicator
  }
}

/// Chooses the loading indicator that counts the calls of a request.
public enum IndicatorChoice: Sendable, Hashable {
  /// The client's indicators that have no name count the request.
  case inherited
  /// No indicator counts the request.
  case none
  /// The client's indicator with this name counts the request.
  case named(String)
}
