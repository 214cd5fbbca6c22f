/// Receives a notification on the main actor when a batch or a chain ends. A group references its delegate weakly.
///
/// ``groupFinished(_:)`` and ``groupFailed(_:)`` have no default implementation, so that every class that conforms to
/// this protocol must implement them. ``groupProgressed(_:_:)`` has a default implementation. If a base class conforms
/// to this protocol and does not implement ``groupProgressed(_:_:)``, a method of this name in a subclass is not
/// called.
@MainActor
public protocol GroupDelegate: AnyObject, Sendable {
  /// The group has ended with a value.
  func groupFinished(_ group: FinishedGroup)
  /// The group failed or was cancelled.
  func groupFailed(_ group: FailedGroup)
  /// A member of the group has ended, or more bytes of a request or response body were sent or received.
  func groupProgressed(_ group: GroupInfo, _ progress: GroupProgress)
}

extension GroupDelegate {
  /// The default implementation, which ignores the progress.
  public func groupProgressed(_ group: GroupInfo, _ progress: GroupProgress) {}

  func notify(_ info: GroupInfo, _ outcome: GroupOutcome<some Sendable>) {
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

/// A batch or a chain that has ended with a value.
public struct FinishedGroup: Sendable {
  /// The identity of the group.
  public let info: GroupInfo
  /// The value of the group. Its type is the `Response` type of the group.
  public let value: any Sendable
  /// The report on the members: their order, durations and sources.
  public let report: GroupReport

  /// True if the group sent at least one call and all responses are from the cache.
  public var isFromCache: Bool { report.isFromCache }
}
