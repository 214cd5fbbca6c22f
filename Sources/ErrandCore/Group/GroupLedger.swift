import ErrandSupport

/// Records one run of a group: its members, their progress and the stop of the group. A ``GroupCall`` retains the
/// ledger after the run, so the ledger contains no objects of the app.
final class GroupLedger: Sendable {
  let info: GroupInfo
  let state: CallState
  private let started: MonotonicInstant
  private let book = Locked(GroupBook())

  init(_ info: GroupInfo, _ state: CallState, started: MonotonicInstant) {
    self.info = info
    self.state = state
    self.started = started
  }

  /// True if the number of members was set in advance. Then ``count()`` counts the ended members instead of
  /// ``end(_:_:_:)``.
  var isCounted: Bool { book.withLock { $0.total != nil } }

  var progress: GroupProgress { book.withLock { $0.progress } }

  /// The report on the members so far. The reports of inner groups are read outside the lock.
  var report: GroupReport {
    var (entries, inner, duration) = book.withLock { ($0.entries, $0.inner, $0.duration) }
    for (place, ledger) in inner where entries.indices.contains(place) { entries[place].inner = [ledger.report] }
    return GroupReport(group: info, duration: duration ?? elapsed, entries: entries)
  }

  /// Adds a member that starts; a member that is a group passes its own ledger. Returns the index of the member; nil if
  /// the group has ended.
  func begin(_ name: MemberName, _ member: CallState, _ inner: GroupLedger? = nil) -> Int? {
    let start = elapsed
    let (begun, priority) = book.withLock { ($0.begin(name, at: start, member, inner), $0.priority) }
    if let reason = begun.reason { member.stop(reason) }
    if let priority { Self.change(priority, member, inner) }
    return begun.place
  }

  /// Records that a member has ended. Returns true if this function counted the member as finished.
  func end(_ place: Int?, _ state: GroupReport.State, _ report: GroupReport? = nil) -> Bool {
    guard let place else { return false }
    let end = elapsed
    let (released, counts) = book.withLock { book in
      (book.end(place, at: end, state, report), book.total == nil)
    }
    _ = released
    return counts
  }

  /// Counts an ended member, if the number of members was set in advance.
  func count() { book.withLock { $0.finished += 1 } }

  /// Sets the number of members in advance.
  func expect(_ count: Int) { book.withLock { $0.expect(count) } }

  func add(_ bytes: Int64) {
    book.withLock { $0.bytes = $0.bytes.addingReportingOverflow(bytes).partialValue }
  }

  /// Sets the priority of all members, including members that start later.
  func change(priority: CallPriority) {
    for (state, inner) in book.withLock({ $0.change(priority: priority) }) { Self.change(priority, state, inner) }
  }

  private static func change(_ priority: CallPriority, _ member: CallState, _ inner: GroupLedger?) {
    if let inner { inner.change(priority: priority) } else { member.change(priority: priority) }
  }

  func stopMembers(_ reason: CallState.StopReason) {
    for member in book.withLock({ $0.stop(reason) }) { member.stop(reason) }
  }

  /// Ends the phase in which members can start, because the body of the group has ended. Stops members that still run.
  func close() {
    for member in book.withLock({ $0.close() }) { member.stop(state.reasonToLeave) }
  }

  /// Records the duration of the group, because the group has ended.
  func finish() {
    let end = elapsed
    book.withLock { $0.duration = end }
  }

  private var elapsed: Duration { started.duration(to: state.timers.now) }
}
