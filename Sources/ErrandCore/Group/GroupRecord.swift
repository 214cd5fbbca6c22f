import ErrandSupport

/// Records one run of a group: its members, their progress, and whether the group was stopped. A ``GroupCall`` retains
/// the record after the run, so the record must not retain objects of the app.
final class GroupRecord: Sendable {
  let info: GroupInfo
  let state: CallState
  private let started: MonotonicInstant
  private let groupState = Locked(GroupState())

  init(_ info: GroupInfo, _ state: CallState, started: MonotonicInstant) {
    self.info = info
    self.state = state
    self.started = started
  }

  /// True if the number of members was set in advance. In this case the function ``count()`` counts the ended members,
  /// and the function ``end(_:_:_:)`` does not count them.
  var isCounted: Bool { groupState.withLock { $0.total != nil } }

  var progress: GroupProgress { groupState.withLock { $0.progress } }

  /// The report on the members so far. The reports of inner groups are read after the lock is released, because each
  /// inner group has its own lock.
  var report: GroupReport {
    var (entries, inner, duration) = groupState.withLock { ($0.entries, $0.inner, $0.duration) }
    for (place, record) in inner where entries.indices.contains(place) { entries[place].inner = [record.report] }
    return GroupReport(group: info, duration: duration ?? elapsed, entries: entries)
  }

  /// Adds a member that starts. If the member is a group, `inner` is the record of that group. Returns the index of the
  /// member; nil if this group has ended.
  func begin(_ name: MemberName, _ member: CallState, _ inner: GroupRecord? = nil) -> Int? {
    let start = elapsed
    let (begun, priority) = groupState.withLock { ($0.begin(name, at: start, member, inner), $0.priority) }
    if let reason = begun.reason { member.stop(reason) }
    if let priority { Self.change(priority, member, inner) }
    return begun.place
  }

  /// Records that a member has ended. Returns true if this method counted the member as finished.
  func end(_ place: Int?, _ state: GroupReport.State, _ report: GroupReport? = nil) -> Bool {
    guard let place else { return false }
    let end = elapsed
    let (released, counts) = groupState.withLock { groupState in
      (groupState.end(place, at: end, state, report), groupState.total == nil)
    }
    _ = released
    return counts
  }

  /// Counts an ended member of a group whose number of members was set in advance.
  func count() { groupState.withLock { $0.finished += 1 } }

  /// Sets the number of members in advance.
  func expect(_ count: Int) { groupState.withLock { $0.expect(count) } }

  func add(_ bytes: Int64) {
    groupState.withLock { $0.bytes = $0.bytes.addingReportingOverflow(bytes).partialValue }
  }

  /// Sets the priority of all members, including members that start later.
  func change(priority: CallPriority) {
    for (state, inner) in groupState.withLock({ $0.change(priority: priority) }) { Self.change(priority, state, inner) }
  }

  private static func change(_ priority: CallPriority, _ member: CallState, _ inner: GroupRecord?) {
    if let inner { inner.change(priority: priority) } else { member.change(priority: priority) }
  }

  func stopMembers(_ reason: CallState.StopReason) {
    for member in groupState.withLock({ $0.stop(reason) }) { member.stop(reason) }
  }

  /// Records that the body of the group has ended, so that no further member can start. Stops the members that still
  /// run.
  func close() {
    for member in groupState.withLock({ $0.close() }) { member.stop(state.stopReasonForChildren) }
  }

  /// Records that the group has ended, and stores its duration.
  func finish() {
    let end = elapsed
    groupState.withLock { $0.duration = end }
  }

  private var elapsed: Duration { started.duration(to: state.timers.now) }
}
