/// A handle on one run of a batch or a chain. The run lives to its end though nobody holds it.
public final class GroupCall: Sendable {
  private let ledger: GroupLedger

  init(_ ledger: GroupLedger) { self.ledger = ledger }

  /// Who the group is.
  public var info: GroupInfo { ledger.info }
  /// The group's number.
  public var id: UInt64 { ledger.info.id }
  /// How far it has come.
  public var progress: GroupProgress { ledger.progress }
  /// What ran so far; it can be printed.
  public var report: GroupReport { ledger.report }

  /// Cancels the group and all members that run. Its terminal event is a failure of stage `cancelled`; where it was
  /// called on the callback executor, no success follows. No effect after the terminal event. Any thread.
  public func cancel() { ledger.state.stop(.cancelled) }

  /// Changes how urgent the members are: those that wait for their turn, and those that begin later, whatever their own
  /// options say. No effect after the terminal event. Any thread.
  public func change(priority: CallPriority) {
    if isExecuting { ledger.change(priority: priority) }
  }

  /// Whether the terminal event has not come yet.
  public var isExecuting: Bool { !ledger.state.isClaimed }

  /// Whether the group ends, or has ended, as cancelled.
  public var isCancelled: Bool { ledger.state.endsBy == .cancelled }
}
