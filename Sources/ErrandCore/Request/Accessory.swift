/// Observes calls and groups of calls: their start, progress and end, including cache hits and cancelled calls.
///
/// - `willStart` runs on the thread that starts the call.
/// - `willStop` and `didStop` run on the callback executor, for `send` on the caller's executor. The delegate and the
///   closure are called between them, in the same job.
/// - `progressed` runs on the callback executor, for `send` on the transport's thread. Reports follow one another, and
///   none follows `willStop`.
///
/// `willStart`, `willStop` and `didStop` are each called exactly once per call. For a batch or a chain, the group's own
/// accessories and the client's accessories are also called once for the group, in addition to the calls for its
/// members.
///
/// Every member has a default, which does nothing. Swift selects the default in the class that declares the
/// conformance, so a member that only a subclass implements is not called.
public protocol Accessory: Sendable {
  /// The call starts.
  func willStart(_ call: CallInfo)
  /// More bytes of a body were sent or received.
  func progressed(_ call: CallInfo, _ progress: TransferProgress)
  /// The call has its outcome. The delegate and the closure have not been called yet.
  func willStop(_ call: CallInfo, _ ending: CallEnding)
  /// The delegate and the closure have been called.
  func didStop(_ call: CallInfo, _ ending: CallEnding)

  /// A batch or a chain starts.
  func willStart(_ group: GroupInfo)
  /// A member of a batch or a chain made progress or ended.
  func progressed(_ group: GroupInfo, _ progress: GroupProgress)
  /// A batch or a chain has its outcome. The delegate and the closure have not been called yet.
  func willStop(_ group: GroupInfo, _ ending: GroupEnding)
  /// The delegate and the closure of a batch or a chain have been called.
  func didStop(_ group: GroupInfo, _ ending: GroupEnding)

  /// An account was logged out, and its calls were cancelled. The task that performs the logout calls this function on
  /// the accessories of the client.
  func sessionEnded(of account: String)
}

extension Accessory {
  /// Does nothing.
  public func willStart(_ call: CallInfo) {}
  /// Does nothing.
  public func progressed(_ call: CallInfo, _ progress: TransferProgress) {}
  /// Does nothing.
  public func willStop(_ call: CallInfo, _ ending: CallEnding) {}
  /// Does nothing.
  public func didStop(_ call: CallInfo, _ ending: CallEnding) {}
  /// Does nothing.
  public func willStart(_ group: GroupInfo) {}
  /// Does nothing.
  public func progressed(_ group: GroupInfo, _ progress: GroupProgress) {}
  /// Does nothing.
  public func willStop(_ group: GroupInfo, _ ending: GroupEnding) {}
  /// Does nothing.
  public func didStop(_ group: GroupInfo, _ ending: GroupEnding) {}
  /// Does nothing.
  public func sessionEnded(of account: String) {}
}
