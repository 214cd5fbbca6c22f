/// Is told how calls end, on the main actor. Held weakly.
///
/// The two ends have no default, so that a class which is meant to be subclassed has to implement them, and a subclass
/// overrides them. The other members have one. A default is chosen where the conformance is declared: if a subclass is
/// to implement ``requestCached(_:)`` or ``requestProgressed(_:_:)``, its superclass must implement it, too.
@MainActor
public protocol CallDelegate: AnyObject, Sendable {
  /// The call has its value.
  func requestFinished(_ call: FinishedCall)
  /// The stored answer of a call that gives it first; the end follows.
  func requestCached(_ call: FinishedCall)
  /// The call failed or was cancelled.
  func requestFailed(_ call: FailedCall)
  /// A body has come further.
  func requestProgressed(_ call: CallInfo, _ progress: TransferProgress)
}

extension CallDelegate {
  /// Nothing.
  public func requestCached(_ call: FinishedCall) {}
  /// Nothing.
  public func requestProgressed(_ call: CallInfo, _ progress: TransferProgress) {}
}
