/// Is told how calls end, on the main actor. Held weakly. Every member has a default.
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
  public func requestFinished(_ call: FinishedCall) {}
  /// Nothing.
  public func requestCached(_ call: FinishedCall) {}
  /// Nothing.
  public func requestFailed(_ call: FailedCall) {}
  /// Nothing.
  public func requestProgressed(_ call: CallInfo, _ progress: TransferProgress) {}
}
