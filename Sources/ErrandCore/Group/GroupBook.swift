/// The record of a group's members, running or ended, and the decisions about them. It has no side effects:
/// ``GroupLedger`` guards it with a lock and acts on its results.
struct GroupBook: Sendable {
  typealias Report = GroupReport

  /// A running member.
  private struct Member: Sendable {
    let state: CallState
    /// The state of a member that is a group; nil for a call.
    let ledger: GroupLedger?
  }

  private(set) var entries: [Report.Entry] = []
  /// The running members, at the same indexes as their entries; nil at the index of a member that has ended.
  private var running: [Member?] = []
  private var stopped: CallState.StopReason?
  private var isClosed = false
  var finished = 0
  /// The number of all members, if it is known.
  private(set) var total: Int?
  var bytes: Int64 = 0
  /// The priority that was set for all members; nil if each member has its own.
  private(set) var priority: CallPriority?
  /// The duration of the group; nil while the group runs.
  var duration: Duration?

  var progress: GroupProgress { GroupProgress(finished: finished, total: total, bytes: bytes) }

  /// The running members that are groups, with their indexes.
  var inner: [(place: Int, ledger: GroupLedger)] {
    running.enumerated().compactMap { place, member in member?.ledger.map { (place, $0) } }
  }

  /// Sets the number of members that the group will have.
  mutating func expect(_ count: Int) {
    total = count
    entries.reserveCapacity(min(count, Self.mostReserved))
    running.reserveCapacity(min(count, Self.mostReserved))
  }

  private static let mostReserved = 1_024

  /// Adds a member that starts. Returns the index of the member (nil if the group has ended), and the reason if the
  /// member must stop at once.
  mutating func begin(
    _ name: MemberName, at start: Duration, _ state: CallState, _ ledger: GroupLedger?
  ) -> (place: Int?, reason: CallState.StopReason?) {
    if isClosed { return (nil, .cancelled) }
    entries.append(Report.Entry(title: name, start: start))
    running.append(Member(state: state, ledger: ledger))
    return (entries.count - 1, stopped)
  }

  /// Records that a member has ended. Returns an object that the caller must release outside the lock.
  mutating func end(
    _ place: Int, at end: Duration, _ state: Report.State, _ report: Report? = nil
  ) -> (any Sendable)? {
    guard entries.indices.contains(place) else { return nil }
    entries[place].duration = end - entries[place].start
    entries[place].state = state
    if let report { entries[place].inner = [report] }
    if total == nil { finished += 1 }
    defer { running[place] = nil }
    return running[place]
  }

  /// Sets the priority of all members. Returns the running members.
  mutating func change(priority: CallPriority) -> [(state: CallState, ledger: GroupLedger?)] {
    self.priority = priority
    return running.compactMap { $0.map { ($0.state, $0.ledger) } }
  }

  /// Records that the group is stopped. Returns the states of the members that the caller must stop.
  mutating func stop(_ reason: CallState.StopReason) -> [CallState] {
    stopped = stopped ?? reason
    return running.compactMap { $0?.state }
  }

  /// Records that the body of the group has ended. Returns the states of the members that still run.
  mutating func close() -> [CallState] {
    isClosed = true
    return running.compactMap { $0?.state }
  }
}
