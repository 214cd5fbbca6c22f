/// A handle on one run of a batch or a chain. The run continues to its end even if the handle is released.
public final class GroupCall: Sendable {
  private let ledger: GroupLedger

  init(_ ledger: GroupLedger) { self.ledger = ledger }

  /// The group's number, name, kind and tag.
  public var info: GroupInfo { ledger.info }
  /// The group's number.
  public var id: UInt64 { ledger.info.id }
  /// The progress so far.
  public var progress: GroupProgress { ledger.progress }
  /// The report on the members so far. It can be printed.
  public var report: GroupReport { ledger.report }

  /// Cancels the group and all running members. The group then ends with a failure of stage `cancelled`. If `cancel` is
  /// called on the callback executor, no success follows. It has no effect after the success or the failure was
  /// delivered. Any thread may call it.
  public func cancel() { ledger.state.stop(.cancelled) }

  /// Changes the priority of members that wait for admission and of members that start later. It overrides the priority
  /// in the options of the members. It has no effect after the success or the failure of the group was delivered. Any
  /// thread may call it.
  public func change(priority: CallPriority) {
    if isExecuting { ledger.change(priority: priority) }
  }

  /// True until the delivery of the group's success or failure begins.
  public var isExecuting: Bool { !ledger.state.isClaimed }

  /// True if the group has ended or will end as cancelled.
  public var isCancelled: Bool { ledger.state.endsBy == .cancelled }
}
