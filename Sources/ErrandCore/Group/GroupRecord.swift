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

/// Records the running and the ended members of a group, and decides which members must stop. The type has no side
/// effects: ``GroupRecord`` guards the value with a lock and acts on its results.
struct GroupState: Sendable {
  typealias Report = GroupReport

  private struct Member: Sendable {
    let state: CallState
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

extension APIError {
  /// The error of a group that was cancelled, or whose deadline has passed.
  ///
  /// - Parameter limit: The time limit of the group itself, if this limit was exceeded. Nil if the group was cancelled,
  ///   or if the deadline of an outer group has passed.
  static func stopped(_ reason: CallState.StopReason, of group: GroupInfo, limit: Duration?) -> APIError {
    switch reason {
    case .cancelled: APIError(.cancelled, .cancelled, "The \(group.kind) was cancelled.")
    case .expired:
      APIError(
        .deadline, .deadline,
        limit.map {
          "The \(group.kind) did not end within its deadline of \($0); raise `deadline` to wait longer."
        } ?? "The \(group.kind) did not end within the deadline of its outer group; raise `deadline` of the outer group"
          + " to wait longer.")
    }
  }

  /// The error of a call that was stopped because the deadline of its group has passed.
  static var groupExpired: APIError {
    APIError(
      .deadline, .deadline,
      "The call did not end within the deadline of its group; raise `deadline` of the group to wait longer.")
  }

  /// Converts an error that the body of a group threw into the error that the caller receives.
  static func mapping(_ error: any Error, in group: GroupInfo) -> APIError {
    switch error {
    case is APIError, is CallState.Stopped, is CancellationError: mapping(error, as: .group)
    default:
      APIError(
        .group, .step, sentence("a step of the \(group.kind) failed: \(AppErrorText.of(error))"), cause: error)
    }
  }

  /// Returns a copy of this error with a member added at the front of ``APIError/members``. The outermost failed member
  /// is the first in the list. If a member is a group, the next element of the list is the member that failed in this
  /// group.
  func ofMember(_ member: GroupMember) -> APIError {
    with { $0.members.insert(member, at: 0) }
  }
}
