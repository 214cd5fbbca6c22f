/// Receives the endings of batches and chains, on the main actor. A group references its delegate weakly.
///
/// ``groupFinished(_:)`` and ``groupFailed(_:)`` have no default, so that a base class must implement them.
/// ``groupProgressed(_:_:)`` has a default; a subclass can implement it only if its superclass implements it, too.
@MainActor
public protocol GroupDelegate: AnyObject, Sendable {
  /// The group has its value.
  func groupFinished(_ group: FinishedGroup)
  /// The group failed or was cancelled.
  func groupFailed(_ group: FailedGroup)
  /// A member has ended, or more bytes of a body were sent or received.
  func groupProgressed(_ group: GroupInfo, _ progress: GroupProgress)
}

extension GroupDelegate {
  /// Does nothing.
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
  /// The identity of the group.
  public let info: GroupInfo
  /// The reason of the failure; ``APIError/members`` names the failed member.
  public let error: APIError
  /// The report on the members: their order, durations and sources.
  public let report: GroupReport
}

/// A batch or a chain that has its value.
public struct FinishedGroup: Sendable {
  /// The identity of the group.
  public let info: GroupInfo
  /// The value, of the group's response type.
  public let value: any Sendable
  /// The report on the members: their order, durations and sources.
  public let report: GroupReport

  /// True if the group sent at least one call and all responses are from the cache.
  public var isFromCache: Bool { report.isFromCache }
}
