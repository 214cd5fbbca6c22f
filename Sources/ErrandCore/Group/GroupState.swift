/// Records the running and the ended members of a group, and decides which members must stop. The type has no side
/// effects: ``GroupRecord`` guards the value with a lock and acts on its results.
struct GroupState: Sendable {
  typealias Report = GroupReport

  /// A running member of the group: a call or an inner group.
  private struct Member: Sendable {
    let state: CallState
    /// The ``GroupRecord`` of a member that is a group; nil if the member is a call.
    let record: GroupRecord?
  }

  private(set) var entries: [Report.Entry] = []
  /// The running members. A member has the same index in this array and in `entries`. The element is nil if the member
  /// has ended.
  private var running: [Member?] = []
  private var stopped: CallState.StopReason?
  private var isClosed = false
  var finished = 0
  /// The number of all members; nil if the number is not known in advance.
  private(set) var total: Int?
  var bytes: Int64 = 0
  /// The priority that was set for all members; nil if each member has its own priority.
  private(set) var priority: CallPriority?
  /// The duration of the group; nil while the group runs.
  var duration: Duration?

  var progress: GroupProgress { GroupProgress(finished: finished, total: total, bytes: bytes) }

  /// The records of the running members that are groups, with the indexes of these members.
  var inner: [(place: Int, record: GroupRecord)] {
    running.enumerated().compactMap { place, member in member?.record.map { (place, $0) } }
  }

  /// Sets the number of members that the group will have.
  mutating func expect(_ count: Int) {
    total = count
    entries.reserveCapacity(min(count, Self.mostReserved))
    running.reserveCapacity(min(count, Self.mostReserved))
  }

  private static let mostReserved = 1_024

  /// Adds a member that starts. Returns the index of the member; nil if the group has ended. Also returns a reason if
  /// the group was stopped. The caller must then stop the member for this reason.
  mutating func begin(
    _ name: MemberName, at start: Duration, _ state: CallState, _ record: GroupRecord?
  ) -> (place: Int?, reason: CallState.StopReason?) {
    if isClosed { return (nil, .cancelled) }
    entries.append(Report.Entry(title: name, start: start))
    running.append(Member(state: state, record: record))
    return (entries.count - 1, stopped)
  }

  /// Records that a member has ended. Returns the removed member. The caller must keep the member until the lock is
  /// released, because releasing a member may run other code.
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
  mutating func change(priority: CallPriority) -> [(state: CallState, record: GroupRecord?)] {
    self.priority = priority
    return running.compactMap { $0.map { ($0.state, $0.record) } }
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
