/// What a group holds behind its lock: who runs in it, and what ran. Decides, and performs nothing.
struct GroupBook: Sendable {
  typealias Report = GroupReport

  private(set) var entries: [Report.Entry] = []
  private var running: [Int: CallState] = [:]
  private var stopped: CallState.StopReason?
  private(set) var finished = 0
  /// The members in all, where that is known.
  var total: Int?
  var bytes: Int64 = 0

  var progress: GroupProgress { GroupProgress(finished: finished, total: total, bytes: bytes) }

  /// A member begins. Returns its place, and why it must stop at once where the group has been stopped.
  mutating func begin(_ name: String, at start: Duration, _ state: CallState) -> (Int, CallState.StopReason?) {
    entries.append(Report.Entry(name: name, start: start))
    running[entries.count - 1] = state
    return (entries.count - 1, stopped)
  }

  /// A member has ended. Returns its state, to be released outside the lock.
  mutating func end(
    _ place: Int, at end: Duration, _ state: Report.State, _ report: Report? = nil
  ) -> CallState? {
    guard entries.indices.contains(place) else { return nil }
    entries[place].duration = end - entries[place].start
    entries[place].state = state
    entries[place].report = report
    finished += 1
    return running.removeValue(forKey: place)
  }

  /// The group is stopped: returns the states of the members that have to stop.
  mutating func stop(_ reason: CallState.StopReason) -> [CallState] {
    stopped = stopped ?? reason
    return Array(running.values)
  }
}
