import ErrandSupport

/// What is known of one run of a group, while it runs and after. A handle keeps it, so it holds nothing of the user's.
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

  /// Whether it is known how many members there are, so that each of them says itself when it has ended.
  var isCounted: Bool { book.withLock { $0.total != nil } }

  var progress: GroupProgress { book.withLock { $0.progress } }

  /// What ran so far. The plans of inner groups that run are asked for outside the lock.
  var report: GroupReport {
    var (entries, inner, duration) = book.withLock { ($0.entries, $0.inner, $0.duration) }
    for (place, ledger) in inner where entries.indices.contains(place) { entries[place].inner = [ledger.report] }
    return GroupReport(group: info, duration: duration ?? elapsed, entries: entries)
  }

  /// A member begins; a group brings a ledger of its own. Returns its place; nil where the group is over.
  func begin(_ name: MemberName, _ member: CallState, _ inner: GroupLedger? = nil) -> Int? {
    let start = elapsed
    let (begun, priority) = book.withLock { ($0.begin(name, at: start, member, inner), $0.priority) }
    if let reason = begun.reason { member.stop(reason) }
    if let priority { Self.change(priority, member, inner) }
    return begun.place
  }

  /// A member has ended. Returns whether it counts as finished by that.
  func end(_ place: Int?, _ state: GroupReport.State, _ report: GroupReport? = nil) -> Bool {
    guard let place else { return false }
    let end = elapsed
    let (released, counts) = book.withLock { book in
      (book.end(place, at: end, state, report), book.total == nil)
    }
    _ = released
    return counts
  }

  /// One of the members that are counted has ended.
  func count() { book.withLock { $0.finished += 1 } }

  /// Says how many members there will be.
  func expect(_ count: Int) { book.withLock { $0.expect(count) } }

  func add(_ bytes: Int64) {
    book.withLock { $0.bytes = $0.bytes.addingReportingOverflow(bytes).partialValue }
  }

  /// Gives the members another priority, those that begin later, too.
  func change(priority: CallPriority) {
    for (state, inner) in book.withLock({ $0.change(priority: priority) }) { Self.change(priority, state, inner) }
  }

  private static func change(_ priority: CallPriority, _ member: CallState, _ inner: GroupLedger?) {
    if let inner { inner.change(priority: priority) } else { member.change(priority: priority) }
  }

  func stopMembers(_ reason: CallState.StopReason) {
    for member in book.withLock({ $0.stop(reason) }) { member.stop(reason) }
  }

  /// The body has ended: what it left behind ends with it, and nothing more begins.
  func close() {
    for member in book.withLock({ $0.close() }) { member.stop(state.reasonToLeave) }
  }

  /// The group has ended: its time stands still.
  func finish() {
    let end = elapsed
    book.withLock { $0.duration = end }
  }

  private var elapsed: Duration { started.duration(to: state.timers.now) }
}
