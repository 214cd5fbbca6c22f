import ErrandCache
import ErrandHTTP
import ErrandSupport
import Foundation

struct NewEntry {
  var facts: EntryFacts
  var request: Data
  /// Whether the entry replaces queued entries of its type and lane.
  var supersedes = false
  /// The types of entries with which the entry cancels out.
  var cancels: [String] = []
  /// The entries that create what the request refers to.
  var parents: [Int64] = []
  var files: Set<String> = []
}

// All functions of this file must be called inside a transaction.
extension OutboxStore {
  struct Added {
    var facts: EntryFacts
    var isHead: Bool
    /// The other entries that have changed.
    var others: [EntryFacts]
  }

  /// Adds an entry, and applies the rules for entries that replace others or cancel out.
  func add(_ new: NewEntry, at now: WallTime) throws -> Added {
    var facts = new.facts
    var waiting: [Int64] = []
    for parent in new.parents {
      if let value = try made(by: parent) {
        facts.lane = Self.lane(facts.lane, replacing: parent, by: value)
      } else {
        try checkParent(parent)
        waiting.append(parent)
      }
    }
    facts.waits = waiting.count
    var others: [EntryFacts] = []
    if !new.cancels.isEmpty, let victims = try cancelled(by: facts, new.cancels, new.parents) {
      // The last one first, so that none of them ends because an entry on which it depends was cancelled.
      for victim in victims.reversed() {
        others += try apply(
          .remove(OutboxReason(.cancelledOut, "A later entry and this one cancel out.")), to: victim, now)
      }
      facts.state = .cancelled
      facts.reason = OutboxReason(.cancelledOut, "An earlier entry and this one cancel out; nothing was sent.")
      facts.ended = now
      waiting = []
    } else if new.supersedes {
      for id in try superseded(by: facts, new.parents) {
        others += try apply(.remove(OutboxReason(.superseded, "A later entry replaced this one.")), to: id, now)
      }
    }
    let isHead = try facts.blocksLane && isEmpty(facts.account, facts.lane)
    facts.id = try insert(facts, facts.state == .cancelled ? Data() : new.request, isHead: isHead)
    if facts.state == .cancelled { releasedFiles += new.files } else { try attach(new.files, to: facts.id) }
    for parent in waiting {
      try run("INSERT OR IGNORE INTO parent VALUES (?, ?)", .number(parent), .number(facts.id))
    }
    return Added(facts: facts, isHead: isHead, others: others)
  }

  /// Whether an entry may still create an identifier without a decision of the app.
  private func isAwaited(_ parent: Int64) throws -> Bool {
    try facts(of: parent).map { ![.rejected, .expired, .cancelled, .delivered].contains($0.state) } ?? false
  }

  private func checkParent(_ parent: Int64) throws {
    guard try isAwaited(parent) else {
      throw OutboxError(
        .parent, "The request refers to entry \(parent), which was not delivered or made no identifier; add it again.")
    }
  }

  private func insert(_ facts: EntryFacts, _ request: Data, isHead: Bool) throws -> Int64 {
    let values: [SQLValue] = [
      .text(facts.type), .number(Int64(facts.version)), .text(facts.account), .text(facts.lane), .text(facts.key),
      .flag(facts.isSealed), .number(facts.state.number), .number(Int64(facts.waits)), .time(facts.added),
      .time(facts.notBefore), .time(facts.expires), .number(facts.window), .number(Int64(facts.attemptLimit)),
      .flag(facts.stopsLane), .time(facts.ended), .text(facts.reason?.code.rawValue), .text(facts.reason?.message),
      .number(Self.sum(facts, request)), .flag(facts.blocksLane), .flag(isHead),
    ]
    try run(
      """
      INSERT INTO entry(type, version, account, lane, key, sealed, state, waits, added, not_before, expires, window, \
      attempt_limit, stops, ended, reason, message, sum, blocks, head, request, attempts, failures, conflicts) \
      VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,0,0,0)
      """, values, last: request)
    return try number("SELECT last_insert_rowid()") ?? 0
  }

  // MARK: - Changes

  /// What is stored when an entry is delivered.
  struct Delivery {
    /// The identifier that the entry has created on the server.
    var made: String?
    /// The time of the delivery (``EntryFacts/kept``) if the request is kept for its change; nil to remove the request.
    var time: WallTime?
  }

  /// Applies an event to an entry and to the entries that depend on it. Returns the changed facts, those of the entry
  /// first; empty if the state does not allow the event.
  ///
  /// - Parameters:
  ///   - request: The request that replaces the stored one, if the event demands a new idempotency key.
  ///   - delivery: What is stored if the entry is delivered.
  func apply(
    _ event: EntryEvent, to id: Int64, _ now: WallTime, backOff: BackOff = BackOff(), request: EncodedRequest? = nil,
    delivery: Delivery = Delivery()
  ) throws -> [EntryFacts] {
    var changed: [EntryFacts] = []
    var work = try step(event, id, now, backOff, request, delivery, &changed)
    // A list instead of a recursion, because a chain of references may be as long as the queue.
    var next = 0
    while next < work.count {
      let (parent, child) = work[next]
      next += 1
      work += try step(.parentFailed(parent), child, now, backOff, nil, Delivery(), &changed)
    }
    return changed
  }

  /// Applies an event to one entry, unless the database is damaged there. Adds the changed facts to `changed`. Returns
  /// the entries that depend on it in vain, each with the entry on which it depends.
  private func step(
    _ event: EntryEvent, _ id: Int64, _ now: WallTime, _ backOff: BackOff, _ request: EncodedRequest?,
    _ delivery: Delivery, _ changed: inout [EntryFacts]
  ) throws -> [(parent: Int64, child: Int64)] {
    let done = try sparing(id) { () -> (changed: [EntryFacts], work: [(parent: Int64, child: Int64)])? in
      guard let facts = try transition(event, of: id, now, backOff, request, delivery) else { return nil }
      var changed = [facts]
      let work = try settle(facts, delivery.made, &changed)
      return (changed, work)
    }
    guard let done = done ?? nil else { return [] }
    changed += done.changed
    return done.work
  }

  /// Applies an event to one entry. Returns the changed facts; nil if the state does not allow the event.
  private func transition(
    _ event: EntryEvent, of id: Int64, _ now: WallTime, _ backOff: BackOff, _ request: EncodedRequest?,
    _ delivery: Delivery
  ) throws -> EntryFacts? {
    guard let before = try row(id) else { return nil }
    var machine = EntryMachine(before, backOff)
    guard machine.apply(event, at: now) else { return nil }
    var facts = machine.facts
    facts.kept = facts.state == .delivered ? delivery.time : nil
    if event == .resend {
      guard try stored(id)?.isIntact == true else { throw Self.damaged(id) }
      facts.waits = try waits(of: id)
    }
    if machine.needsNewKey { try renewKey(of: &facts, request) }
    try save(facts)
    return facts
  }

  /// Replaces the request of an entry, which gets a new idempotency key and is queued.
  /// - Throws: ``OutboxError`` if the entry is damaged, or if the request refers to an entry that makes no identifier.
  func edit(_ facts: EntryFacts, _ request: EncodedRequest, at now: WallTime) throws -> [EntryFacts] {
    let isIntact = try sparing(facts.id) { try stored(facts.id)?.isIntact == true }
    guard isIntact == true else { throw Self.damaged(facts.id) }
    for parent in request.parents {
      // Entries that refer to each other would wait for ever.
      guard parent < facts.id else {
        throw OutboxError(.parent, "Entry \(facts.id) cannot refer to the later entry \(parent).")
      }
      if try made(by: parent) == nil { try checkParent(parent) }
    }
    let changed = try apply(.edit, to: facts.id, now, request: request)
    guard damaged[facts.id] == nil else { throw Self.damaged(facts.id) }
    return changed
  }

  /// Queues a dead letter again. An entry that was damaged and is no longer may still be queued.
  /// - Throws: ``OutboxError`` if the entry is damaged.
  func resend(_ id: Int64, at now: WallTime) throws -> [EntryFacts] {
    let changed = try apply(.resend, to: id, now)
    guard damaged[id] == nil else { throw Self.damaged(id) }
    return try changed.isEmpty ? row(id).map { [$0] } ?? [] : changed
  }

  /// Removes an entry that is a dead letter, or is queued. The facts must be read in the same transaction.
  func discard(_ facts: EntryFacts, at now: WallTime) throws -> [EntryFacts] {
    if damaged[facts.id] != nil || !facts.isUntouched { return try drop(facts.id, at: now) }
    return try apply(.remove(OutboxReason(.discarded, "The app discarded the entry.")), to: facts.id, now)
  }

  /// Removes an entry in any state; the server may have carried it out.
  func drop(_ id: Int64, at now: WallTime) throws -> [EntryFacts] {
    if let facts = damaged[id] { return try forget(facts, now) }
    return try apply(.cancel, to: id, now) + apply(.discard, to: id, now)
  }

  /// Gives an entry a new idempotency key, and another request if `request` is not nil. A damaged entry keeps its key.
  private func renewKey(of facts: inout EntryFacts, _ request: EncodedRequest?) throws {
    guard let stored = try stored(facts.id), request != nil || stored.isIntact else { return }
    let data = request?.data ?? stored.request
    facts.key = UUID().uuidString.lowercased()
    if let request {
      (facts.version, facts.isSealed) = (request.version, request.isSealed)
      try run("DELETE FROM parent WHERE child=?", .number(facts.id))
      // Entries that wait for each other would wait for ever: a later entry of the lane waits for this one.
      for parent in request.parents where try parent < facts.id && made(by: parent) == nil && isAwaited(parent) {
        try run("INSERT INTO parent VALUES (?, ?)", .number(parent), .number(facts.id))
      }
      facts.waits = try waits(of: facts.id)
      try attach(request.files, to: facts.id)
    }
    try run(
      "UPDATE entry SET key=?1, sum=?2, version=?3, sealed=?4, waits=?5, request=?7 WHERE id=?6",
      [
        .text(facts.key), .number(Self.sum(facts, data)), .number(Int64(facts.version)), .flag(facts.isSealed),
        .number(Int64(facts.waits)), .number(facts.id),
      ], last: data)
  }

  /// Stores which files an entry has. Files that it had before are removed.
  func attach(_ names: Set<String>, to entry: Int64) throws {
    let former = try fileNames(of: entry)
    for name in former where !names.contains(name) {
      try run("DELETE FROM file WHERE name=?", .text(name))
      releasedFiles.append(name)
    }
    for name in names where !former.contains(name) {
      // Facts that no file has: a file that has vanished parks the entry when it is sent.
      let facts = files.facts(name) ?? AttachedFiles.Facts(length: -1, changed: 0)
      try run(
        "INSERT INTO file VALUES (?, ?, ?, ?)", .text(name), .number(entry), .number(facts.length),
        .number(facts.changed))
    }
  }

  /// The number of entries that must be delivered before an entry can be sent.
  func waits(of id: Int64) throws -> Int {
    Int(clamping: try number("SELECT count(*) FROM parent WHERE child=?", .number(id)) ?? 0)
  }

  func save(_ facts: EntryFacts) throws {
    try run(
      """
      UPDATE entry SET state=?1, attempts=?2, failures=?3, conflicts=?4, waits=?5, not_before=?6, expires=?7, began=?8, \
      unknown_since=?9, ended=?10, reason=?11, message=?12, status=?13, blocks=?14, head=(head AND ?14), kept=?16 \
      WHERE id=?15
      """, .number(facts.state.number), .number(Int64(facts.attempts)), .number(Int64(facts.failures)),
      .number(Int64(facts.conflicts)), .number(Int64(facts.waits)), .time(facts.notBefore), .time(facts.expires),
      .time(facts.began), .time(facts.unknownSince), .time(facts.ended), .text(facts.reason?.code.rawValue),
      .text(facts.reason?.message), .number(facts.reason?.status.map(Int64.init)), .flag(facts.blocksLane),
      .number(facts.id), .time(facts.kept))
    try promote(facts.account, facts.lane)
  }

  /// Removes the stored request of an entry that is not sent again, unless it is kept for its change. Releases the
  /// entries that wait for its identifier. Returns the entries that depend on it in vain, each with the entry on which
  /// it depends.
  private func settle(
    _ facts: EntryFacts, _ made: String?, _ changed: inout [EntryFacts]
  ) throws -> [(parent: Int64, child: Int64)] {
    if facts.state == .delivered || facts.state == .cancelled {
      if facts.kept == nil { try removeRequest(of: facts) }
      try attach([], to: facts.id)
    }
    if facts.state == .delivered, let made {
      try run("INSERT OR REPLACE INTO made VALUES (?, ?)", .number(facts.id), .text(made))
      changed += try release(childrenOf: facts.id, made)
      return []
    }
    guard [.delivered, .cancelled, .rejected, .expired].contains(facts.state) else { return [] }
    let children = try children(of: facts.id)
    if facts.state == .delivered || facts.state == .cancelled {
      try run("DELETE FROM parent WHERE parent=?", .number(facts.id))
    }
    // Otherwise a cancelled entry would keep the entries to which it refers from being replaced.
    if facts.state == .cancelled { try run("DELETE FROM parent WHERE child=?", .number(facts.id)) }
    return children.map { (facts.id, $0) }
  }

  private func removeRequest(of facts: EntryFacts) throws {
    try run(
      "UPDATE entry SET request=x'', sum=?, kept=NULL WHERE id=?", .number(Self.sum(facts, Data())), .number(facts.id))
  }

  func children(of id: Int64) throws -> [Int64] {
    try rows("SELECT child FROM parent WHERE parent=? ORDER BY child", .number(id)) { $0.number(0) }
  }

  /// Lets the entries go that waited for the identifier. A lane that is named after the entry gets the name of the
  /// identifier, so that entries that are added later with the identifier are in the same lane.
  private func release(childrenOf id: Int64, _ made: String) throws -> [EntryFacts] {
    var changed: [EntryFacts] = []
    for child in try children(of: id) {
      let released = try sparing(child) { () -> EntryFacts? in
        guard var facts = try row(child) else { return nil }
        let old = facts.lane
        facts.lane = Self.lane(old, replacing: id, by: made)
        facts.waits = max(0, facts.waits - 1)
        try run(
          "UPDATE entry SET waits=?, head=(head AND ?), lane=? WHERE id=?", .number(Int64(facts.waits)),
          .flag(old.hasSameBytes(as: facts.lane)), .text(facts.lane), .number(child))
        try promote(facts.account, old)
        try promote(facts.account, facts.lane)
        return facts
      }
      if let facts = released ?? nil { changed.append(facts) }
    }
    try run("DELETE FROM parent WHERE parent=?", .number(id))
    return changed
  }

  /// The name of a lane in which the placeholder of an entry is replaced by its identifier.
  static func lane(_ lane: String, replacing id: Int64, by made: String) -> String {
    let placeholder = OutboxReference.placeholder(id)
    return lane.utf8.split(separator: 0x2F, omittingEmptySubsequences: false).map { part in
      let part = String(Substring(part))
      return part.hasSameBytes(as: placeholder) ? PercentEncoding.value(made) : part
    }.joined(separator: "/")
  }

  // MARK: - Many entries

  /// Queues the entries again that a process sent which has ended. The caller holds the lease.
  func recover(at now: WallTime, _ backOff: BackOff) throws -> [EntryFacts] {
    try each("SELECT id FROM entry INDEXED BY entry_held WHERE state=0 AND not_before=9223372036854775807") { id in
      try run("UPDATE entry SET not_before=added WHERE id=?", .number(id))
    }
    let interrupted = try ids(in: [.sending], after: 0, limit: .max)
    return try interrupted.flatMap { try apply(.interrupted, to: $0, now, backOff: backOff) }
  }

  /// Makes entries due that wait for the network or for a login.
  func wake(at now: WallTime) throws {
    try each("SELECT id FROM entry INDEXED BY entry_waiting WHERE state=0 AND reason IN ('offline', 'login')") { id in
      try run(
        "UPDATE entry SET not_before=?1 WHERE id=?3 AND not_before>?1 AND not_before<?2", .time(now),
        .time(EntryFacts.held), .number(id))
    }
  }

  /// Treats entries whose end is later than the time of a clock that was reset as if they had ended now. They are kept
  /// a little longer.
  func shorten(endsAfter now: WallTime) throws {
    try each("SELECT id FROM entry INDEXED BY entry_ended WHERE state IN (2, 6) AND ended>?", .time(now)) { id in
      try run("UPDATE entry SET ended=? WHERE id=?", .time(now), .number(id))
    }
  }

  /// Deletes entries that were delivered or cancelled long ago.
  func purge(before moment: WallTime) throws {
    try each("SELECT id FROM entry INDEXED BY entry_ended WHERE state IN (2, 6) AND ended<?", .time(moment)) { id in
      try run("DELETE FROM entry WHERE id=?", .number(id))
    }
  }

  /// Removes the requests of delivered entries that were kept for their changes.
  func forgetChanges(of ids: [Int64]) throws {
    for id in ids { try sparing(id) { try forgetChange(of: id) } }
  }

  private func forgetChange(of id: Int64) throws {
    // The checksum of the row does not cover the state and the mark, so both must agree.
    guard let facts = try row(id), facts.state == .delivered, facts.kept != nil else { return }
    try removeRequest(of: facts)
  }

  /// Changes the entries that a query finds, one after the other, except damaged ones. The query must read no row of
  /// the table.
  private func each(_ sql: String, _ values: SQLValue..., change: (Int64) throws -> Void) throws {
    let ids = try rows(sql, values) { $0.number(0) }
    for id in ids { try sparing(id) { try change(id) } }
  }
}
