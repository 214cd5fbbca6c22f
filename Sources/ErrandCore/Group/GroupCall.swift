/// A handle on one run of a batch or a chain. The run continues to its end even if the handle is released.
public final class GroupCall: Sendable {
  private let record: GroupRecord

  init(_ record: GroupRecord) { self.record = record }

  /// The group's number, name, kind and tag.
  public var info: GroupInfo { record.info }
  /// The group's number.
  public var id: UInt64 { record.info.id }
  /// The progress of the group so far.
  public var progress: GroupProgress { record.progress }
  /// The report on the members so far. The report can be printed.
  public var report: GroupReport { record.report }

  /// Cancels the group and all running members. The group then ends with a failure of stage `cancelled`. If this method
  /// runs on the callback executor, no success is delivered after the method has returned. The method has no effect
  /// after the success or the failure was delivered. Any thread may call the method.
  public func cancel() { record.state.stop(.cancelled) }

  /// Changes the priority of members that wait for admission and of members that start later. The new priority
  /// overrides the priority in the options of the members. The method has no effect after the success or the failure of
  /// the group was delivered. Any thread may call the method.
  public func change(priority: CallPriority) {
    if isExecuting { record.change(priority: priority) }
  }

  /// True until the delivery of the group's success or failure begins.
  public var isExecuting: Bool { !record.state.isClaimed }

  /// True if the group was cancelled: the group has ended, or will end, with a failure of stage `cancelled`.
  public var isCancelled: Bool { record.state.endsBy == .cancelled }
}

/// The identity of a batch or a chain.
public struct GroupInfo: Sendable, CustomStringConvertible {
  /// The number of the group. No two groups or calls of a process have the same number.
  public let id: UInt64
  /// The name of the group; by default the name of its type.
  public let name: String
  /// The kind of the group.
  public let kind: GroupKind
  /// The tag with which the group was started; nil if the group has no tag.
  public let tag: String?
  /// Which loading indicator is shown while the group runs.
  public let indicator: IndicatorChoice

  /// The kind, the number and the name of the group, such as `chain #12 sign up`.
  public var description: String { name.lowercased() == "\(kind)" ? "\(kind) #\(id)" : "\(kind) #\(id) \(name)" }
}

/// The progress of a batch or a chain.
public struct GroupProgress: Sendable, Hashable {
  /// The number of members that have ended, with success or failure.
  public let finished: Int
  /// The number of all members; nil for a chain, whose steps are not known in advance.
  public let total: Int?
  /// The number of bytes of request and response bodies that were sent and received so far. The bytes of a shared
  /// exchange count once for each member that shares the exchange.
  public let bytes: Int64

  package init(finished: Int, total: Int?, bytes: Int64) {
    self.finished = finished
    self.total = total
    self.bytes = bytes
  }

  /// The fraction of members that have ended, 0 to 1; nil if the total is unknown.
  public var fraction: Double? {
    guard let total, total > 0 else { return nil }
    return min(1, Double(finished) / Double(total))
  }
}

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

  nonisolated var progressCallback: GroupProgressCallback? {
    guard let delegate = self as? any GroupProgressDelegate else { return nil }
    return { [weak delegate] info, progress in
      MainActor.assumeIsolated { delegate?.groupProgressed(info, progress) }
    }
  }
}
