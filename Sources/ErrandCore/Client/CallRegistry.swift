import ErrandSupport

/// The calls of a client that have not ended.
final class CallRegistry: OwnedCalls {
  struct Entry: Sendable {
    let state: CallState
    /// The number, the request and the tag of the call; nil for a group. Each call of a group is registered separately.
    var info: CallInfo?
    let owner: UInt64?
    let tag: String?
    /// The members of the group and their results; nil for a call.
    var record: GroupRecord?
    /// The flags of the call, which also record the account of the call; nil for a group.
    var flags: CallFlags?
    /// True if the call refreshes a credential or notifies a server of a logout. The `cancel` functions of the client
    /// do not cancel such a call.
    let isExemptFromCancel = RefreshControl.isRefreshing

    /// The number of the group; nil for a call.
    var group: UInt64? { record?.info.id }
  }

  private struct Places: Sendable {
    var entries: [Entry?] = []
    var free: [Int] = []
  }

  private let places = Locked(Places())
  /// The running calls whose requests declare a ``RepeatRule``.
  let repeats = RepeatControl()
  private let hasWarned = Locked(false)

  func add(_ entry: Entry) -> Int {
    places.withLock { places in
      if let place = places.free.popLast() {
        places.entries[place] = entry
        return place
      }
      places.entries.append(entry)
      return places.entries.count - 1
    }
  }

  func remove(_ place: Int) {
    let removed = places.withLock { places -> Entry? in
      places.free.append(place)
      return places.entries[place].take()
    }
    _ = removed
  }

  /// Stops every call and group that `rule` selects. Returns the number of calls and groups that will now end as
  /// cancelled. Groups are stopped first, outer groups before inner groups. The members of a group end with the group
  /// and are not counted.
  @discardableResult
  func cancel(where rule: (Entry) -> Bool) -> Int {
    let picked = running.filter { !$0.isExemptFromCancel && rule($0) }
    let groups = picked.filter { $0.group != nil }.sorted { ($0.group ?? 0) < ($1.group ?? 0) }
    let calls = picked.lazy.filter { $0.group == nil }
    return groups.count { $0.state.stop(.cancelled) } + calls.count { $0.state.stop(.cancelled) }
  }

  func cancel(owner: UInt64) -> Int { cancel { $0.owner == owner } }

  /// Stops every call that has used the given account. Returns the number of calls that will now end as cancelled.
  func cancel(account: String) -> Int {
    running.count { entry in
      guard let flags = entry.flags, entry.state.endsBy == nil, flags.logOut(account) else { return false }
      return entry.state.stop(.cancelled)
    }
  }

  /// Returns true when the method is called for the first time, and false afterwards. So a client logs the warning that
  /// the main actor is blocked only once.
  func takeWarning() -> Bool {
    hasWarned.withLock { hasWarned in
      defer { hasWarned = true }
      return !hasWarned
    }
  }

  var running: [Entry] { places.withLock { $0.entries.compactMap { $0 } } }
}

/// The running calls of a client whose requests declare a ``RepeatRule``. The rule decides whether calls of one request
/// type may run at the same time.
final class RepeatControl: Sendable {
  private let table = Locked(RepeatTable<RepeatState>())

  /// Registers a call that starts, and stops the calls that the new call replaces. Returns nil for the rule `runAll`,
  /// because this rule stops and rejects no calls.
  func start(_ rule: RepeatRule, of type: Any.Type, _ owner: UInt64?, _ info: CallInfo, _ state: CallState)
    -> RepeatState?
  {
    if rule == .runAll { return nil }
    let repeatState = RepeatState(info, state, rule)
    let kind = RepeatTable<RepeatState>.Kind(type: ObjectIdentifier(type), owner: owner)
    switch table.withLock({ $0.enter(kind, rule, repeatState) { $0.isEnding } }) {
    case .proceeds(let ticket, let ending)?:
      repeatState.take(ticket)
      for earlier in ending { earlier.supersede(by: info) }
    case .rejected(let other)?: repeatState.reject(because: other.info)
    case nil: break
    }
    return repeatState
  }

  /// Records that the debounce pause of a call (its waiting time before it is sent) is over.
  func begin(_ repeatState: RepeatState) {
    if let ticket = repeatState.ticket { table.withLock { $0.begin(ticket) } }
  }

  /// Removes a call that has ended from the table of running calls.
  func end(_ repeatState: RepeatState) {
    if let ticket = repeatState.ticket { table.withLock { $0.leave(ticket) } }
  }

  /// The number of running calls whose requests declare a ``RepeatRule`` other than `runAll`.
  var count: Int { table.withLock { $0.count } }
}
