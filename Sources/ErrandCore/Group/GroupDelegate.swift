/// Is told how batches and chains end, on the main actor. Held weakly.
///
/// The two ends have no default, so that a class which is meant to be subclassed has to implement them. If a subclass is
/// to implement ``groupProgressed(_:_:)``, which has one, its superclass must implement it, too.
@MainActor
public protocol GroupDelegate: AnyObject, Sendable {
  /// The group has its value.
  func groupFinished(_ group: FinishedGroup)
  /// The group failed or was cancelled.
  func groupFailed(_ group: FailedGroup)
  /// A member has ended, or a body has come further.
  func groupProgressed(_ group: GroupInfo, _ progress: GroupProgress)
}

extension GroupDelegate {
  /// Nothing.
  public func groupProgressed(_ group: GroupInfo, _ progress: GroupProgress) {}

  func tell(_ info: GroupInfo, _ outcome: GroupOutcome<some Sendable>) {
    switch outcome.result {
    case .success(let value): groupFinished(FinishedGroup(info: info, value: value, report: outcome.report))
    case .failure(let error): groupFailed(FailedGroup(info: info, error: error, report: outcome.report))
    }
  }
}
