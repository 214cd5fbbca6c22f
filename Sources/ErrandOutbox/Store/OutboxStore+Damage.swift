import CSQLite
import ErrandCache
import ErrandSupport
import Foundation

// The entries that the database can neither read nor change, because a part of its file is damaged.
//
// Such an entry is a dead letter. Its row stays as it is, and its place in the indexes, too. The table `damaged` stores
// what is known of it, so that all processes list it and the lane continues. All lists read the numbers of the entries
// from an index first and each row by itself, so that one unreadable row hides no other entry.
extension OutboxStore {
  /// Works on one entry. If the database is damaged at the entry, notes it and returns nil, also for an entry that was
  /// noted before. In a transaction, the transaction begins again without the entry.
  func sparing<Value>(_ id: Int64, _ work: () throws -> Value) throws -> Value? {
    guard damaged[id] == nil else { return nil }
    let isChange = database.isInTransaction
    do { return try work() } catch let failure as SQLiteFailure where failure.isDamage {
      if isChange { throw FoundDamage(id: id, failure: failure) }
      _ = try note(FoundDamage(id: id, failure: failure))
      return nil
    }
  }

  /// Reads. Returns nil if the database is damaged there. Must be called outside a transaction: SQLite allows no
  /// further change in a transaction that has met damage.
  func unlessDamaged<Value>(_ read: () throws -> Value) throws -> Value? {
    do { return try read() } catch let failure as SQLiteFailure where failure.isDamage { return nil }
  }

  /// Puts an entry on the list of damaged ones. If the list cannot be stored, because its table or an index is
  /// damaged, this process keeps it in memory. Returns false if nothing new was learned.
  func note(_ found: FoundDamage) throws -> Bool {
    guard let id = found.id else {
      defer { storesDamage = false }
      return storesDamage
    }
    guard damaged[id] == nil else { return false }
    let row = try unlessDamaged { try self.row(id) } ?? nil
    guard let state = try row?.state ?? indexedState(of: id) else { return false }
    var facts = try row ?? unread(id)
    facts.state = state
    facts.markDamaged(
      "a part of the database file can be neither read nor changed (SQLite code \(found.failure.code))",
      isRead: row != nil)
    damaged[id] = facts
    foundDamage.append(facts)
    isDamageStored = false
    return true
  }

  /// The state of an entry, from an index. Nil if there is no such entry.
  func indexedState(of id: Int64) throws -> OutboxState? {
    try number(
      "SELECT state FROM entry INDEXED BY entry_state WHERE state IN (0, 1, 2, 3, 4, 5, 6, 7) AND id=?", .number(id)
    ).flatMap(OutboxState.init)
  }

  /// The facts of an entry whose row cannot be read, as far as an index knows them. Its lane stops, because the rule of
  /// the entry may say so.
  private func unread(_ id: Int64) throws -> EntryFacts {
    let place = try unlessDamaged {
      try rows("SELECT account, lane FROM entry INDEXED BY entry_lane WHERE blocks=1 AND id=?", .number(id)) {
        ($0.text(0) ?? "", $0.text(1) ?? "")
      }.first
    }
    return EntryFacts.unread(id, type: "", account: place??.0 ?? "", lane: place??.1 ?? "")
  }

  /// The entries that turned out to be damaged since the last call.
  func takeFoundDamage() -> [EntryFacts] {
    defer { foundDamage = [] }
    return foundDamage
  }

  // MARK: - The table

  /// Reads what this and other processes have stored.
  func loadDamage() throws {
    let stored = try unlessDamaged {
      try rows("SELECT id, type, account, lane, state, stops, sent, reason, message FROM damaged", read: Self.entry)
    }
    let unstored = isDamageStored ? [:] : damaged
    damaged = Dictionary(
      try (stored ?? []).map { facts in
        // The row may be readable, and contains more.
        guard var row = try unlessDamaged({ try self.row(facts.id) }) ?? nil else { return (facts.id, facts) }
        (row.state, row.reason, row.began) = (facts.state, facts.reason, nil)
        row.unknownSince = facts.unknownSince.map { row.unknownSince ?? $0 }
        return (facts.id, row)
      }
    ) { $1 }.merging(unstored) { old, _ in old }
  }

  private static func entry(_ row: SQLiteStatement) -> EntryFacts {
    var facts = EntryFacts.unread(
      row.number(0), type: row.text(1) ?? "", account: row.text(2) ?? "", lane: row.text(3) ?? "")
    facts.state = OutboxState(number: row.number(4)) ?? .unknown
    facts.stopsLane = row.number(5) != 0
    facts.unknownSince = row.number(6) != 0 ? facts.added : nil
    facts.reason = OutboxReason(.init(rawValue: row.text(7) ?? ""), row.text(8) ?? "")
    return facts
  }

  /// Stores the list of damaged entries and lets their lanes continue. Must be called inside a transaction.
  func storeDamage() throws {
    guard !isDamageStored, storesDamage else { return }
    for facts in damaged.values { try store(facts) }
    isDamageStored = true
  }

  private func store(_ facts: EntryFacts) throws {
    do {
      try save(damaged: facts)
      try promote(facts.account, facts.lane)
    } catch let failure as SQLiteFailure where failure.isDamage {
      throw FoundDamage(id: nil, failure: failure)
    }
  }

  private func save(damaged facts: EntryFacts) throws {
    try run(
      "INSERT OR REPLACE INTO damaged(id, type, account, lane, state, stops, sent, reason, message) VALUES (?,?,?,?,?,?,?,?,?)",
      .number(facts.id), .text(facts.type), .text(facts.account), .text(facts.lane), .number(facts.state.number),
      .flag(facts.stopsLane), .flag(facts.unknownSince != nil), .text(facts.reason?.code.rawValue ?? ""),
      .text(facts.reason?.message ?? ""))
  }

  // MARK: - Decisions of the app

  /// Takes an entry off the list of damaged ones, if the database can read and change it again. Returns false if it
  /// cannot. Must be called outside a transaction.
  func restore(_ id: Int64, at now: WallTime) throws -> Bool {
    guard damaged[id] != nil else { return true }
    guard let stored = try unlessDamaged({ try self.stored(id) }) ?? nil, stored.isIntact else { return false }
    return try unlessDamaged {
      try transaction {
        damaged[id] = nil
        try run("DELETE FROM damaged WHERE id=?", .number(id))
        // The end of an entry on which it depends was recorded only in the table of the references.
        var facts = stored.facts
        facts.waits = try waits(of: id)
        try save(facts)
        _ = try apply(.interrupted, to: id, now)
        return true
      }
    } ?? false
  }

  /// Marks a damaged entry as discarded, because its row cannot be changed. Returns all entries that have changed.
  func forget(_ facts: EntryFacts, _ now: WallTime) throws -> [EntryFacts] {
    var facts = facts
    facts.state = .cancelled
    facts.reason = OutboxReason(.discarded, "The app discarded the entry; its row stays in the damaged database.")
    damaged[facts.id] = facts
    try store(facts)
    try attach([], to: facts.id)
    let children = try children(of: facts.id)
    try run("DELETE FROM parent WHERE parent=?1 OR child=?1", .number(facts.id))
    return [facts] + (try children.flatMap { try apply(.parentFailed(facts.id), to: $0, now) })
  }

  /// A damaged entry may belong to another account, so it is neither sent nor changed.
  static func damaged(_ id: Int64) -> OutboxError {
    OutboxError(
      .unreadable, "Entry \(id) is damaged; keep a copy of the folder, discard the entry, and add another one.")
  }
}

extension SQLiteFailure {
  /// Whether a part of the file is damaged. Other broken statements, such as a value that is too large, are no damage.
  var isDamage: Bool {
    meaning == .broken && [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR].contains(code & 0xFF)
  }
}

/// A part of the database was found to be damaged inside a transaction.
struct FoundDamage: Error {
  /// The entry; nil if the list of damaged entries cannot be stored.
  var id: Int64?
  let failure: SQLiteFailure
}

extension EntryFacts {
  /// The facts of an entry whose row cannot be read.
  fileprivate static func unread(_ id: Int64, type: String, account: String, lane: String) -> EntryFacts {
    let never = WallTime(milliseconds: 0)
    var facts = EntryFacts(
      id: id, type: type, version: 0, account: account, lane: lane, key: "", added: never, notBefore: never)
    facts.stopsLane = true
    return facts
  }

  /// Makes an entry a dead letter, because it is damaged. An entry that has ended keeps its state.
  /// - Parameter isRead: Whether the facts were read. Otherwise it is unknown whether the entry was sent.
  mutating func markDamaged(_ cause: String, isRead: Bool) {
    if !isRead || state == .sending { unknownSince = unknownSince ?? began ?? added }
    if !state.isFinal { state = unknownSince == nil ? .parked : .unknown }
    began = nil
    let reason = OutboxReason.damaged(id, cause)
    let fate = unknownSince == nil ? "" : " The server may have carried it out."
    self.reason = OutboxReason(.damaged, reason.message + fate)
  }
}

extension OutboxReason {
  static func damaged(_ id: Int64, _ cause: String) -> OutboxReason {
    OutboxReason(
      .damaged, "Entry \(id) is damaged: \(cause). Keep a copy of the folder of the outbox, then discard the entry.")
  }
}
