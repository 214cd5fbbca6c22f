import ErrandSupport

/// The calls of a client that have not ended.
final class CallRegistry: Sendable {
  struct Entry: Sendable {
    let state: CallState
    /// The call; nil for a group, whose calls have entries of their own.
    var info: CallInfo?
    let owner: UInt64?
    let tag: String?
    /// What is known of a group; nil for a call.
    var ledger: GroupLedger?
    /// What is noted of the call; nil for a group.
    var record: CallRecord?
    /// Whether it renews a credential or tells a server of a logout: nobody who cancels others means it.
    let isSpared = RefreshControl.isRefreshing

    /// The number of a group; nil for a call.
    var group: UInt64? { ledger?.info.id }
  }

  private struct Places: Sendable {
    var entries: [Entry?] = []
    var free: [Int] = []
  }

  private let places = Locked(Places())
  /// What is counted of them by a rule for repeats.
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

  /// Stops every call and group the rule picks; returns how many it made a difference to. Groups come first, the
  /// outermost before those in it: their members end with them and are not counted.
  @discardableResult
  func cancel(where rule: (Entry) -> Bool) -> Int {
    let picked = running.filter { !$0.isSpared && rule($0) }
    let groups = picked.filter { $0.group != nil }.sorted { ($0.group ?? 0) < ($1.group ?? 0) }
    let calls = picked.lazy.filter { $0.group == nil }
    return groups.count { $0.state.stop(.cancelled) } + calls.count { $0.state.stop(.cancelled) }
  }

  /// Stops every call that was frozen as an account; returns how many it made a difference to.
  func cancel(account: String) -> Int {
    running.count { entry in
      guard let record = entry.record, entry.state.endsBy == nil, record.ends(account) else { return false }
      return entry.state.stop(.cancelled)
    }
  }

  /// True once: for the delivery that has to warn of a late main actor.
  func takeWarning() -> Bool {
    hasWarned.withLock { hasWarned in
      defer { hasWarned = true }
      return !hasWarned
    }
  }

  var running: [Entry] { places.withLock { $0.entries.compactMap { $0 } } }
}

/// The calls of a client that count by a rule for repeats.
final class RepeatControl: Sendable {
  private let table = Locked(RepeatTable<RepeatTurn>())

  /// A call starts: those that it takes the place of are stopped before it does. Nil where nothing is counted.
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

  /// A call has waited long enough.
  func begin(_ turn: RepeatTurn) {
    if let ticket = turn.ticket { table.withLock { $0.begin(ticket) } }
  }

  /// A call has its outcome.
  func end(_ turn: RepeatTurn) {
    if let ticket = turn.ticket { table.withLock { $0.leave(ticket) } }
  }

  /// How many calls are counted.
  var count: Int { table.withLock { $0.count } }
}
