/// Receives a notification on the main actor when a batch or a chain ends. A group references its delegate weakly.
///
/// No function of a delegate has a default implementation, so a class that conforms implements them, and a subclass
/// overrides them. Delegates that also conform to ``GroupProgressDelegate`` receive the progress of their groups.
@MainActor
public protocol GroupDelegate: AnyObject, Sendable {
  /// The group has ended with a value, whose type is the `Response` type of the group.
  func groupFinished(_ group: GroupInfo, _ value: any Sendable, _ report: GroupReport)
  /// The group failed or was cancelled. ``APIError/members`` names the failed member.
  func groupFailed(_ group: GroupInfo, _ error: APIError, _ report: GroupReport)
}

/// Receives the progress of batches and chains, too.
@MainActor
public protocol GroupProgressDelegate: GroupDelegate {
  /// A member of the group has ended, or more bytes of a request or response body were sent or received.
  func groupProgressed(_ group: GroupInfo, _ progress: GroupProgress)
}

typealias GroupProgressCallback = @Sendable (GroupInfo, GroupProgress) -> Void

extension GroupDelegate {
  func notify(_ info: GroupInfo, _ outcome: GroupOutcome<some Sendable>) {
    switch outcome.result {
    case .success(let value): groupFinished(info, value, outcome.report)
    case .failure(let error): groupFailed(info, error, outcome.report)
    }
  }

  /// The callback that receives the progress; nil if the delegate is no ``GroupProgressDelegate``.
  nonisolated var progressCallback: GroupProgressCallback? {
    guard let delegate = self as? any GroupProgressDelegate else { return nil }
    return { [weak delegate] info, progress in
      MainActor.assumeIsolated { delegate?.groupProgressed(info, progress) }
    }
  }
}
