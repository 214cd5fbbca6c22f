/// Is told how batches and chains end, on the main actor. Held weakly.
///
/// The two ends have no default, so that a class which is meant to be subclassed has to implement them. If a subclass
/// is to implement ``groupProgressed(_:_:)``, which has one, its superclass must implement it, too.
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

/// A batch or a chain that failed or was cancelled.
public struct FailedGroup: Sendable {
  /// Who the group is.
  public let info: GroupInfo
  /// Why it failed; ``APIError/members`` says which member it was.
  public let error: APIError
  /// What ran, in which order, how long, and from where.
  public let report: GroupReport
}

/// A batch or a chain that has its value.
public struct FinishedGroup: Sendable {
  /// Who the group is.
  public let info: GroupInfo
  /// The value, of the group's response type.
  public let value: any Sendable
  /// What ran, in which order, how long, and from where.
  public let report: GroupReport

  /// Whether there were calls and the answers of all of them came from the cache.
  public var isFromCache: Bool { report.isFromCache }
}
