/// What a group holds behind its lock: who runs in it, and what ran. Decides, and performs nothing.
struct GroupBook: Sendable {
  typealias Report = GroupReport

  private(set) var entries: [Report.Entry] = []
  /// The states of the members that run, at the places of their entries.
  private var running: [CallState?] = []
  private var stopped: CallState.StopReason?
  private(set) var finished = 0
  /// The members in all, where that is known.
  var total: Int?
  var bytes: Int64 = 0

  var progress: GroupProgress { GroupProgress(finished: finished, total: total, bytes: bytes) }

  /// A member begins. Returns its place, and why it must stop at once where the group has been stopped.
  mutating func begin(_ name: MemberName, at start: Duration, _ state: CallState) -> (Int, CallState.StopReason?) {
    entries.append(Report.Entry(title: name, start: start))
    running.append(state)
    return (entries.count - 1, stopped)
  }

  /// A member has ended. Returns its state, to be released outside the lock.
  mutating func end(
    _ place: Int, at end: Duration, _ state: Report.State, _ report: Report? = nil
  ) -> CallState? {
    guard entries.indices.contains(place) else { return nil }
    entries[place].duration = end - entries[place].start
    entries[place].state = state
    if let report { entries[place].inner = [report] }
    finished += 1
    defer { running[place] = nil }
    return running[place]
  }

  /// The group is stopped: returns the states of the members that have to stop.
  mutating func stop(_ reason: CallState.StopReason) -> [CallState] {
    stopped = stopped ?? reason
    return running.compactMap { $0 }
  }
}
