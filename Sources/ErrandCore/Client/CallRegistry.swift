import ErrandSupport

/// The calls of a client that have not ended.
final class CallRegistry: OwnedCalls {
  struct Entry: Sendable {
    enum Subject: Sendable {
      case call(CallInfo, CallFlags)
      /// A group with its members and their results. Each call of a group is registered separately.
      case group(GroupRecord, owner: UInt64?)
      /// An event stream between two connections. Draining ends it and does not wait for it. While the call of the
      /// earlier connection ends, this call and the stream are both registered.
      case pause(CallFlags, after: UInt64?, owner: UInt64?, tag: String?)
    }

    let state: CallState
    let subject: Subject
    /// True if the call refreshes a credential or notifies a server of a logout. The `cancel` functions of the client
    /// do not cancel such a call.
    let isExemptFromCancel = RefreshControl.isRefreshing

    var info: CallInfo? { if case .call(let info, _) = subject { info } else { nil } }
    var record: GroupRecord? { if case .group(let record, _) = subject { record } else { nil } }
    var group: UInt64? { record?.info.id }
    var isPause: Bool { if case .pause = subject { true } else { false } }
    /// The number of the call of the earlier connection; nil for a call or a group.
    var earlierCall: UInt64? { if case .pause(_, let call, _, _) = subject { call } else { nil } }

    /// The flags of the call, which also record the account of the call; nil for a group.
    var flags: CallFlags? {
      switch subject {
      case .call(_, let flags), .pause(let flags, _, _, _): flags
      case .group: nil
      }
    }

    var owner: UInt64? {
      switch subject {
      case .call(let info, _): info.owner
      case .group(_, let owner), .pause(_, _, let owner, _): owner
      }
    }

    var tag: String? {
      switch subject {
      case .call(let info, _): info.tag
      case .group(let record, _): record.info.tag
      case .pause(_, _, _, let tag): tag
      }
    }
  }

  private struct Places: Sendable {
    var entries: [Entry?] = []
    var free: [Int] = []
    var drain = DrainMachine()
  }

  /// The place of a call that was refused, because the client drains. The call is not registered.
  static let refused = -1

  private let places = Locked(Places())
  /// The running calls whose requests declare a ``RepeatRule``.
  let repeats = RepeatControl()
  let draining = DrainControl()
  /// Is set as soon as the calls of a client that drains have ended.
  private let ended = Promise<Void>()
  private let hasWarned = Locked(false)

  /// Registers a call. Returns ``refused`` if the client drains and the call must not start.
  func add(_ entry: Entry, as role: DrainMachine.Role = .own) -> Int {
    let role: DrainMachine.Role = entry.isPause ? .pause : entry.isExemptFromCancel && role == .own ? .part : role
    return places.withLock { places in
      guard places.drain.enter(role) else { return Self.refused }
      if let place = places.free.popLast() {
        places.entries[place] = entry
        return place
      }
      places.entries.append(entry)
      return places.entries.count - 1
    }
  }

  func remove(_ place: Int) {
    guard place != Self.refused else { return }
    let (removed, isCounted) = places.withLock { places -> (Entry?, Bool) in
      places.free.append(place)
      let removed = places.entries[place].take()
      if removed?.isPause == true { return (removed, true) }
      let isOpen = places.drain.phase == .open
      if isOpen { _ = places.drain.leave(isStopped: false) }
      return (removed, isOpen)
    }
    if let removed, !isCounted { leave(isStopped: removed.state.endsBy != nil) }
  }

  var running: [Entry] { places.withLock { $0.entries.compactMap { $0 } } }

  // MARK: - Draining

  /// Refuses new calls from now on, and ends the event streams that wait for their next connection, because this
  /// connection would be refused. Returns false if draining began before.
  func beginDraining() -> Bool {
    let (hasBegun, isIdle) = places.withLock { ($0.drain.begin(), $0.drain.phase == .idle) }
    guard hasBegun else { return false }
    if isIdle { ended.set(()) }
    for pause in running where pause.isPause && pause.state.endsBy == nil {
      pause.flags?.isDrained = true
      pause.state.stop(.cancelled)
    }
    return true
  }

  var isDraining: Bool { places.withLock { $0.drain.phase != .open } }

  func endDraining(isCacheWritten: Bool) {
    draining.end(places.withLock { $0.drain.report(isCacheWritten: isCacheWritten) })
  }

  /// Counts a call that ended while the client drains.
  private func leave(isStopped: Bool) {
    if places.withLock({ $0.drain.leave(isStopped: isStopped) }) { ended.set(()) }
  }

  /// Waits until the calls of a client that drains have ended.
  func callsEnded() async { await ended.value() }

  /// Cancels every call of a client that drains. Returns false if the calls have ended or were cancelled before.
  func cancelRest() -> Bool {
    guard places.withLock({ $0.drain.expire() }) else { return false }
    let exempt = running.filter(\.isExemptFromCancel)
    cancel { _ in true }
    for entry in exempt { entry.state.stop(.cancelled) }
    return true
  }

  // MARK: - Cancelling

  /// Stops every call and group that `rule` selects. Returns the number of calls and groups that will now end as
  /// cancelled. Groups are stopped first, outer groups before inner groups. The members of a group end with the group
  /// and are not counted.
  @discardableResult
  func cancel(where rule: (Entry) -> Bool) -> Int {
    let picked = running.filter { !$0.isExemptFromCancel && rule($0) }
    let stopped = Self.stop(picked)
    let missed = picked.filter { $0.state.endsBy == nil }
    if missed.isEmpty { return Self.count(stopped) }
    // After the entries were read, an event stream may have passed from a call to the pause after it, or from a pause
    // to the next call. The new entry was added before the old one was claimed, so it can be read now.
    let calls = Set(missed.compactMap { $0.info?.id })
    let hasMissedPause = missed.contains(where: \.isPause)
    let next = running.filter { entry in
      guard !entry.isExemptFromCancel, rule(entry) else { return false }
      return entry.earlierCall.map { calls.contains($0) } ?? hasMissedPause
    }
    return Self.count(stopped + Self.stop(next))
  }

  /// Stops the given entries. Returns those that will now end as cancelled.
  private static func stop(_ picked: [Entry]) -> [Entry] {
    let groups = picked.filter { $0.group != nil }.sorted { ($0.group ?? 0) < ($1.group ?? 0) }
    return (groups + picked.filter { $0.group == nil }).filter { $0.state.stop(.cancelled) }
  }

  /// The number of stopped calls. A stream that was stopped while its connection ended is counted once.
  private static func count(_ stopped: [Entry]) -> Int {
    stopped.count { entry in
      guard let call = entry.earlierCall else { return true }
      return !stopped.contains { $0.info?.id == call }
    }
  }

  func cancel(owner: UInt64) -> Int { cancel { $0.owner == owner } }

  /// Stops every call that has used the given account. Returns the number of calls that will now end as cancelled.
  func cancel(account: String) -> Int {
    Self.count(
      running.filter { entry in
        guard let flags = entry.flags, entry.state.endsBy == nil, flags.logOut(account) else { return false }
        return entry.state.stop(.cancelled)
      })
  }

  /// Returns true when the method is called for the first time, and false afterwards. So a client logs the warning that
  /// the main actor is blocked only once.
  func takeWarning() -> Bool { hasWarned.setOnce() }
}
