import ErrandSupport

/// The calls of a client that have not ended.
final class CallRegistry: OwnedCalls {
  struct Entry: Sendable {
    let state: CallState
    /// The call; nil for a group, whose calls have entries of their own.
    var info: CallInfo?
    let owner: UInt64?
    let tag: String?
    /// The state of a group; nil for a call.
    var ledger: GroupLedger?
    /// The flags of a call, with its account; nil for a group.
    var flags: CallFlags?
    /// True if the call refreshes a credential or is the farewell call of a logout. Such a call is not cancelled by
    /// owner, by tag or by `cancelAll`.
    let isSpared = RefreshControl.isRefreshing

    /// The number of a group; nil for a call.
    var group: UInt64? { ledger?.info.id }
  }

  private struct Places: Sendable {
    var entries: [Entry?] = []
    var free: [Int] = []
  }

  private let places = Locked(Places())
  /// The calls that have a repeat rule.
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
      let entry = places.entries[place]
      places.entries[place] = nil
      places.free.append(place)
      return entry
    }
    _ = removed
  }

  /// Stops every call and group that the rule selects; returns the number of calls and groups that will now end as
  /// cancelled. Groups are stopped first, outer groups before inner ones. The members of a group end with the group and
  /// are not counted.
  @discardableResult
  func cancel(where rule: (Entry) -> Bool) -> Int {
    let picked = running.filter { !$0.isSpared && rule($0) }
    let groups = picked.filter { $0.group != nil }.sorted { ($0.group ?? 0) < ($1.group ?? 0) }
    let calls = picked.lazy.filter { $0.group == nil }
    return groups.count { $0.state.stop(.cancelled) } + calls.count { $0.state.stop(.cancelled) }
  }

  func cancel(owner: UInt64) -> Int { cancel { $0.owner == owner } }

  /// Stops every call whose final request belongs to an account; returns the number of calls that will now end as
  /// cancelled.
  func cancel(account: String) -> Int {
    running.count { entry in
      guard let flags = entry.flags, entry.state.endsBy == nil, flags.logOut(account) else { return false }
      return entry.state.stop(.cancelled)
    }
  }

  /// Returns true the first time and false afterwards, so that a client warns only once that the main actor is blocked.
  func takeWarning() -> Bool {
    hasWarned.withLock { hasWarned in
      defer { hasWarned = true }
      return !hasWarned
    }
  }

  var running: [Entry] { places.withLock { $0.entries.compactMap { $0 } } }
}

/// The running calls of a client that have a repeat rule.
final class RepeatControl: Sendable {
  private let table = Locked(RepeatTable<RepeatTurn>())

  /// Registers a call that starts, and stops the calls that it replaces. Returns nil for the rule `runAll`, under which
  /// calls are not counted.
  func start(_ rule: RepeatRule, of type: Any.Type, _ owner: UInt64?, _ info: CallInfo, _ state: CallState)
    -> RepeatTurn?
  {
    if rule == .runAll { return nil }
    let turn = RepeatTurn(info, state, rule)
    let kind = RepeatTable<RepeatTurn>.Kind(type: ObjectIdentifier(type), owner: owner)
    switch table.withLock({ $0.enter(kind, rule, turn) { $0.isEnding } }) {
    case .goesOn(let ticket, let ending)?:
      turn.take(ticket)
      for earlier in ending { earlier.give(to: info) }
    case .refused(let other)?: turn.refuse(because: other.info)
    case nil: break
    }
    return turn
  }

  /// Records that the debounce pause of a call is over.
  func begin(_ turn: RepeatTurn) {
    if let ticket = turn.ticket { table.withLock { $0.begin(ticket) } }
  }

  /// Records that a call has ended.
  func end(_ turn: RepeatTurn) {
    if let ticket = turn.ticket { table.withLock { $0.leave(ticket) } }
  }

  /// The number of running calls that have a repeat rule.
  var count: Int { table.withLock { $0.count } }
}
