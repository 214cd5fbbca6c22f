/// Watches calls and groups of calls: is told when one starts, how far it has come, and when it stops. Hits and
/// cancelled calls included.
///
/// `willStart` runs where the call is started. `willStop` and `didStop` run on the callback executor, in one job with
/// the delegate and the closure between them; for `send` they run where its caller is. `progressed` runs on the
/// callback executor, for `send` on the transport's thread: one report after the other, and never after `willStop`.
/// Each of `willStart`, `willStop` and `didStop` comes exactly once per call, and once per batch or chain: for a group
/// to its own accessories and the client's, beside what comes for its members.
///
/// Every member has a default, which does nothing. It is chosen where the conformance is declared: a member that only a
/// subclass implements is not called.
public protocol Accessory: Sendable {
  /// The call starts.
  func willStart(_ call: CallInfo)
  /// A body has come further.
  func progressed(_ call: CallInfo, _ progress: TransferProgress)
  /// The call has its outcome, and nobody has been told yet.
  func willStop(_ call: CallInfo, _ ending: CallEnding)
  /// Everybody has been told.
  func didStop(_ call: CallInfo, _ ending: CallEnding)

  /// A batch or a chain starts.
  func willStart(_ group: GroupInfo)
  /// A batch or a chain has come further.
  func progressed(_ group: GroupInfo, _ progress: GroupProgress)
  /// A batch or a chain has its outcome, and nobody has been told yet.
  func willStop(_ group: GroupInfo, _ ending: GroupEnding)
  /// Everybody has been told of the end of a batch or a chain.
  func didStop(_ group: GroupInfo, _ ending: GroupEnding)

  /// An account was logged out, and its calls were cancelled. Told to the client's accessories, by whoever logs out.
  func sessionEnded(of account: String)
}

extension Accessory {
  /// Nothing.
  public func willStart(_ call: CallInfo) {}
  /// Nothing.
  public func progressed(_ call: CallInfo, _ progress: TransferProgress) {}
  /// Nothing.
  public func willStop(_ call: CallInfo, _ ending: CallEnding) {}
  /// Nothing.
  public func didStop(_ call: CallInfo, _ ending: CallEnding) {}
  /// Nothing.
  public func willStart(_ group: GroupInfo) {}
  /// Nothing.
  public func progressed(_ group: GroupInfo, _ progress: GroupProgress) {}
  /// Nothing.
  public func willStop(_ group: GroupInfo, _ ending: GroupEnding) {}
  /// Nothing.
  public func didStop(_ group: GroupInfo, _ ending: GroupEnding) {}
  /// Nothing.
  public func sessionEnded(of account: String) {}
}
