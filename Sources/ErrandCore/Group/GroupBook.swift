/// What a group holds behind its lock: who runs in it, and what ran. Decides, and performs nothing.
struct GroupBook: Sendable {
  typealias Report = GroupReport

  /// A member that runs.
  private struct Member: Sendable {
    let state: CallState
    /// What a group knows of itself; nil for a call.
    let ledger: GroupLedger?
  }

  private(set) var entries: [Report.Entry] = []
  /// The members that run, at the places of their entries.
  private var running: [Member?] = []
  private var stopped: CallState.StopReason?
  private var isClosed = false
  var finished = 0
  /// The members in all, where that is known.
  private(set) var total: Int?
  var bytes: Int64 = 0
  /// The priority that was given to all members; nil where each has its own.
  private(set) var priority: CallPriority?
  /// How long the group took; nil while it runs.
  var duration: Duration?

  var progress: GroupProgress { GroupProgress(finished: finished, total: total, bytes: bytes) }

  /// The groups that run as members.
  var inner: [(place: Int, ledger: GroupLedger)] {
    running.enumerated().compactMap { place, member in member?.ledger.map { (place, $0) } }
  }

  /// So many members will begin.
  mutating func expect(_ count: Int) {
    total = count
    entries.reserveCapacity(min(count, Self.mostReserved))
    running.reserveCapacity(min(count, Self.mostReserved))
  }

  private static let mostReserved = 1_024

  /// A member begins. Returns its place, nil where the group is over, and why it must stop at once where it must.
  mutating func begin(
    _ name: MemberName, at start: Duration, _ state: CallState, _ ledger: GroupLedger?
  ) -> (place: Int?, reason: CallState.StopReason?) {
    if isClosed { return (nil, .cancelled) }
    entries.append(Report.Entry(title: name, start: start))
    running.append(Member(state: state, ledger: ledger))
    return (entries.count - 1, stopped)
  }

  /// A member has ended. Returns what is to be released outside the lock.
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

  /// The members get another priority: returns those that run.
  mutating func change(priority: CallPriority) -> [(state: CallState, ledger: GroupLedger?)] {
    self.priority = priority
    return running.compactMap { $0.map { ($0.state, $0.ledger) } }
  }

  /// The group is stopped: returns the states of the members that have to stop.
  mutating func stop(_ reason: CallState.StopReason) -> [CallState] {
    stopped = stopped ?? reason
    return running.compactMap { $0?.state }
  }

  /// The group's work is over: returns the states of the members that were left behind.
  mutating func close() -> [CallState] {
    isClosed = true
    return running.compactMap { $0?.state }
  }
}
