import ErrandCache
import ErrandSupport
import Foundation

struct StoredEntry {
  var facts: EntryFacts
  var request: Data
  /// False if a part of the row was changed by something else than the library, for example by a failing disk.
  var isIntact: Bool
}

extension OutboxStore {
  private static let columns = """
    id, type, version, account, lane, key, sealed, state, attempts, failures, conflicts, waits, added, not_before, \
    expires, began, unknown_since, window, attempt_limit, stops, ended, reason, message, status, kept
    """

  private static func facts(_ row: SQLiteStatement) -> EntryFacts {
    // The checksum does not cover the counters, so a damaged one may have any value.
    func counter(_ column: Int32) -> Int { Int(max(0, min(row.number(column), 1_000_000))) }
    func time(_ column: Int32) -> WallTime? { row.isNull(column) ? nil : WallTime(milliseconds: row.number(column)) }
    var facts = EntryFacts(
      id: row.number(0), type: row.text(1) ?? "", version: Int(clamping: row.number(2)), account: row.text(3) ?? "",
      lane: row.text(4) ?? "", key: row.text(5) ?? "", added: WallTime(milliseconds: row.number(12)),
      notBefore: WallTime(milliseconds: row.number(13)))
    facts.isSealed = row.number(6) != 0
    facts.state = OutboxState(number: row.number(7)) ?? .parked
    (facts.attempts, facts.failures) = (counter(8), counter(9))
    (facts.conflicts, facts.waits) = (counter(10), counter(11))
    (facts.expires, facts.began, facts.unknownSince) = (time(14), time(15), time(16))
    facts.window = row.isNull(17) ? nil : row.number(17)
    facts.attemptLimit = Int(clamping: row.number(18))
    facts.stopsLane = row.number(19) != 0
    facts.ended = time(20)
    if let code = row.text(21) {
      let status = row.isNull(23) ? nil : Int(clamping: row.number(23))
      facts.reason = OutboxReason(.init(rawValue: code), row.text(22) ?? "", status: status)
    }
    facts.kept = time(24)
    return facts
  }

  /// The facts of an entry. If its row is damaged, they are those of a dead letter.
  func facts(of id: Int64) throws -> EntryFacts? { try sparing(id) { try row(id) } ?? damaged[id] }

  func row(_ id: Int64) throws -> EntryFacts? {
    try rows("SELECT \(Self.columns) FROM entry WHERE id=?", .number(id), read: Self.facts).first
  }

  func stored(_ id: Int64) throws -> StoredEntry? {
    try rows("SELECT \(Self.columns), request, sum FROM entry WHERE id=?", .number(id)) { row in
      let facts = Self.facts(row)
      let request = Data(row.bytes(25))
      let isIntact = Self.sum(facts, request) == row.number(26)
      return StoredEntry(facts: facts, request: request, isIntact: isIntact)
    }.first
  }

  /// A checksum of the parts of an entry that never change unnoticed: what is sent, under which key, for whom.
  static func sum(_ facts: EntryFacts, _ request: Data) -> Int64 {
    var bytes = Data()
    for text in [facts.type, "\(facts.version)", facts.account, facts.key] {
      bytes.append(contentsOf: text.utf8)
      bytes.append(0)
    }
    bytes.append(request)
    return bytes.withUnsafeBytes { Int64(bitPattern: Checksum64.of($0)) }
  }

  // MARK: - For the schedule

  /// The first entries of lanes that an account may send, the earliest first, and the time of the next one.
  /// - Parameter mayHaveFailed: False for the entries without a failed attempt alone.
  func heads(
    of account: String, limit: Int, mayHaveFailed: Bool = true
  ) throws -> (entries: [EntryFacts], next: WallTime?) {
    let found = try rows(
      Self.headQuery(mayHaveFailed: mayHaveFailed), .text(account), .number(Int64(limit + 1 + damaged.count))
    ) { (id: $0.number(0), time: WallTime(milliseconds: $0.number(1))) }.filter { damaged[$0.id] == nil }
    let entries = try readable(found.prefix(limit).map(\.id))
    return (entries, found.count > limit ? found[limit].time : nil)
  }

  static func headQuery(mayHaveFailed: Bool) -> String {
    let (index, condition) = mayHaveFailed ? ("entry_due", "") : ("entry_probe", "failures=0 AND ")
    return """
      SELECT id, not_before FROM entry INDEXED BY \(index) WHERE head=1 AND state=0 AND waits=0 AND \(condition)account=? \
      ORDER BY not_before, id LIMIT ?
      """
  }

  /// Entries whose time has passed, and the earliest expiry after `now`.
  func expiring(at now: WallTime, limit: Int) throws -> (entries: [EntryFacts], next: WallTime?) {
    let found = try rows(
      "SELECT id FROM entry INDEXED BY entry_expiry WHERE state=0 AND expires IS NOT NULL AND expires<=? ORDER BY expires LIMIT ?",
      .time(now), .number(Int64(limit + damaged.count))
    ) { $0.number(0) }.filter { damaged[$0] == nil }
    let next = try number(
      "SELECT min(expires) FROM entry INDEXED BY entry_expiry WHERE state=0 AND expires IS NOT NULL AND expires>?",
      .time(now))
    return (try readable(found), found.count < limit ? next.map { WallTime(milliseconds: $0) } : now)
  }

  private func readable(_ ids: [Int64]) throws -> [EntryFacts] {
    try ids.compactMap { id in try sparing(id) { try row(id) } ?? nil }
  }

  // MARK: - Lists

  /// Entries in the order in which they were added.
  package func entries(in states: [OutboxState], after id: Int64, limit: Int) throws -> [OutboxEntry] {
    var (found, last): ([Int64: EntryFacts], Int64) = ([:], id)
    while found.count < limit {
      let ids = try ids(in: states, after: last, limit: limit)
      for id in ids {
        if let facts = try facts(of: id), states.contains(facts.state) { found[id] = facts }
      }
      last = ids.last ?? last
      if ids.count < limit { break }
    }
    // The index does not know the states of damaged entries.
    for facts in damaged.values where facts.id > id && states.contains(facts.state) { found[facts.id] = facts }
    return found.values.sorted { $0.id < $1.id }.prefix(limit).map(OutboxEntry.init)
  }

  /// The numbers of entries in the order in which they were added, from the index of the states or, if that is damaged,
  /// from the table.
  func ids(in states: [OutboxState], after id: Int64, limit: Int) throws -> [Int64] {
    let found = try unlessDamaged {
      try states.flatMap { state in
        try rows(
          "SELECT id FROM entry INDEXED BY entry_state WHERE state=? AND id>? ORDER BY id LIMIT ?",
          .number(state.number), .number(id), .number(Int64(limit))
        ) { $0.number(0) }
      }
    }
    if let found { return Array(found.sorted().prefix(limit)) }
    return try rows(
      "SELECT id FROM entry NOT INDEXED WHERE state IN (\(Self.list(states))) AND id>? ORDER BY id LIMIT ?",
      .number(id),
      .number(Int64(limit))
    ) { $0.number(0) }
  }

  private static func list(_ states: [OutboxState]) -> String {
    states.map { "\($0.number)" }.joined(separator: ",")
  }

  /// The numbers of all entries in some states that belong to an account.
  func ids(of account: String, in states: [OutboxState]) throws -> [Int64] {
    let read = try unlessDamaged {
      try rows(
        "SELECT id FROM entry WHERE state IN (\(Self.list(states))) AND account=? ORDER BY id", .text(account)
      ) { $0.number(0) }
    }
    let found =
      try read
      ?? ids(in: states, after: 0, limit: .max).filter { try facts(of: $0)?.account.hasSameBytes(as: account) == true }
    let damage = damaged.values.filter { states.contains($0.state) && $0.account.hasSameBytes(as: account) }
    return (found.filter { damaged[$0] == nil } + damage.map(\.id)).sorted()
  }

  /// Notes all entries that are damaged. Reads the whole database.
  func findDamage() throws {
    let states = OutboxState.allCases.filter { $0 != .delivered && $0 != .cancelled }
    for id in try ids(in: states, after: 0, limit: .max) { _ = try sparing(id) { try stored(id) } }
  }

  /// The entries of some types whose changes apply for an account: those that wait, and the delivered ones whose
  /// requests are kept. In the order in which they were added.
  func patched(of account: String, types: [String]) throws -> [PatchedEntry] {
    let wanted = Set(types.map(ByteText.init))
    let read: [PatchedEntry]? = try unlessDamaged {
      try ["entry_state WHERE state IN (0, 1)", "entry_kept WHERE kept IS NOT NULL"].flatMap {
        source -> [PatchedEntry] in
        try rows("SELECT id, type, key, waits, kept FROM entry INDEXED BY \(source) AND account=?", .text(account)) {
          PatchedEntry(
            id: $0.number(0), type: $0.text(1) ?? "", key: $0.text(2) ?? "", waits: Int(clamping: $0.number(3)),
            delivered: $0.isNull(4) ? nil : WallTime(milliseconds: $0.number(4)))
        }
      }
    }
    let found: [PatchedEntry] =
      try read
      ?? ids(of: account, in: [.queued, .sending, .delivered]).compactMap { try facts(of: $0) }
      .filter { !$0.state.isFinal || $0.kept != nil }.map { PatchedEntry($0) }
    return found.filter { wanted.contains(ByteText($0.type)) && damaged[$0.id] == nil }.sorted { $0.id < $1.id }
  }

  /// Whether the request of a delivered entry is kept for its change. False if the index is damaged.
  func keepsChanges() throws -> Bool {
    let query = "SELECT id FROM entry INDEXED BY entry_kept WHERE kept IS NOT NULL LIMIT 1"
    let found = try unlessDamaged { try number(query) }
    return (found ?? nil) != nil
  }

  /// The delivered entries whose requests are kept for their changes, and were delivered outside a period.
  func keptChanges(outside period: ClosedRange<WallTime>) throws -> [Int64] {
    try keptChanges("(kept<? OR kept>?)", .time(period.lowerBound), .time(period.upperBound))
  }

  /// The delivered entries of an account whose requests are kept for their changes, except the latest ones.
  func keptChanges(of account: String, exceptLatest count: Int) throws -> [Int64] {
    try keptChanges("account=? ORDER BY kept DESC, id DESC LIMIT -1 OFFSET ?", .text(account), .number(Int64(count)))
  }

  private func keptChanges(_ condition: String, _ values: SQLValue...) throws -> [Int64] {
    let query = "SELECT id FROM entry INDEXED BY entry_kept WHERE kept IS NOT NULL AND \(condition)"
    return try rows(query, values) { $0.number(0) }
  }

  /// The number of entries in each state, and the time at which the oldest entry that waits was added.
  package func summary() throws -> OutboxSummary {
    var summary = OutboxSummary()
    var last: Int64 = 0
    while summary.oldest == nil, let id = try ids(in: [.queued, .sending], after: last, limit: 1).first {
      if let facts = try facts(of: id), !facts.state.isFinal { summary.oldest = facts.added }
      last = id
    }
    for (state, count) in try rows(
      "SELECT state, count(*) FROM entry INDEXED BY entry_state GROUP BY state",
      read: { ($0.number(0), $0.number(1)) })
    {
      if let state = OutboxState(number: state) { summary.counts[state] = Int(clamping: count) }
    }
    for facts in damaged.values {
      if let state = try indexedState(of: facts.id) { summary.counts[state, default: 0] -= 1 }
      summary.counts[facts.state, default: 0] += 1
    }
    summary.counts = summary.counts.filter { $0.value > 0 }
    return summary
  }

  /// The lanes with entries that wait, in the order of their oldest entries.
  func lanes(limit: Int) throws -> [OutboxLane] {
    let passed = damaged.values.filter { !$0.blocksLane }.map { "\($0.id)" }.joined(separator: ",")
    let stopping = damaged.values.filter(\.blocksLane).map { "\($0.id)" }.joined(separator: ",")
    return try rows(
      """
      SELECT account, lane, count(*), min(id), max(id IN (\(stopping)) OR id IN (SELECT id FROM entry INDEXED BY \
      entry_state WHERE state IN (3, 4, 5, 7))) FROM entry INDEXED BY entry_lane WHERE blocks=1 AND id NOT IN (\(passed)) \
      GROUP BY account, lane ORDER BY min(id) LIMIT ?
      """, .number(Int64(limit))
    ) { row in
      let account = row.text(0) ?? ""
      return OutboxLane(
        name: row.text(1) ?? "", account: account.isEmpty ? nil : account, count: Int(clamping: row.number(2)),
        first: .init(rawValue: row.number(3)), isStopped: row.number(4) != 0)
    }
  }

  /// A number that changes if another process has changed the database.
  func dataVersion() throws -> Int64 { try number("PRAGMA data_version") ?? 0 }

  /// The identifier that a delivered entry has created on the server.
  func made(by id: Int64) throws -> String? {
    try rows("SELECT value FROM made WHERE entry=?", .number(id)) { $0.text(0) }.first ?? nil
  }

  /// The facts that a file of an entry had when it was added; nil if the file does not belong to the entry.
  func file(_ name: String, of entry: Int64) throws -> AttachedFiles.Facts? {
    try rows("SELECT length, changed FROM file WHERE name=? AND entry=?", .text(name), .number(entry)) {
      AttachedFiles.Facts(length: $0.number(0), changed: $0.number(1))
    }.first
  }

  func fileNames(of entry: Int64) throws -> [String] {
    try rows("SELECT name FROM file WHERE entry=?", .number(entry)) { $0.text(0) ?? "" }
  }

  func allFileNames() throws -> Set<String> { Set(try rows("SELECT name FROM file") { $0.text(0) ?? "" }) }
}
