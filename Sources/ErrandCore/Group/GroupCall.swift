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
