import CSQLite
import ErrandCache
import ErrandSupport
import Foundation

/// The entries of an outbox in an SQLite database. All methods must be called on one thread at a time.
///
/// The database is in WAL mode with `synchronous=FULL`: a commit is one append to the log and one `fsync`, so it
/// survives a power cut, and SQLite ignores a torn end of the log by its checksums. A rollback journal would need three
/// synchronisations for each commit. `fullfsync` makes Apple's disks write their caches, too.
///
/// - `entry`: one row for each entry. The columns are those of ``EntryFacts``, and: `request`, the stored JSON, empty
///   after a delivery, unless `kept` is set; `sum`, a checksum of what must not change unnoticed; `blocks`, whether the
///   next entry of the lane must wait; `head`, whether the entry is the first of its lane that blocks.
/// - `parent`: which entry waits for the delivery of which other entry.
/// - `made`: the identifiers that delivered entries have created on the server.
/// - `file`: the files of the entries, see ``AttachedFiles``.
/// - `damaged`: the entries whose rows can be neither read nor changed, as far as they were noticed.
/// - `clock`: the state of ``OutboxTime``.
///
/// Queries name their index (`INDEXED BY`). Otherwise SQLite prefers `entry_state` and reads all entries that wait.
/// Queries for numbers of entries use no column that is not in the index, so that they read no row of the table: a
/// damaged row does not disturb them.
package final class OutboxStore {
  /// The mark of the library's outboxes: "ErOb".
  static let application: Int64 = 0x4572_4F62
  static let version: Int64 = 1

  let database: SQLiteDatabase
  let files: AttachedFiles
  /// The files that are removed when the transaction is durable.
  var releasedFiles: [String] = []
  /// The entries that the database can neither read nor change, as dead letters.
  var damaged: [Int64: EntryFacts] = [:]
  /// Whether the table `damaged` contains all of ``damaged``.
  var isDamageStored = true
  /// False if the table `damaged`, or an index that is changed with it, is itself damaged.
  var storesDamage = true
  /// The damaged entries that were not reported yet.
  var foundDamage: [EntryFacts] = []
  private var statements: [String: SQLiteStatement] = [:]

  /// Opens the outbox in a folder, and creates it if the folder has none.
  package init(_ folder: OutboxFolder) throws(OutboxError) {
    try folder.prepare()
    files = folder.files
    guard let opening = FileLock.alone(folder.opening, waiting: 5_000) else {
      guard SystemFile.kind(folder.opening) == .file, access(folder.opening, R_OK | W_OK) == 0 else {
        throw OutboxError(.folder, "No file can be created in “\(folder.path)”; check its permissions and the disk.")
      }
      throw OutboxError(.busy, "Another process is opening the outbox in “\(folder.path)”; try again.")
    }
    do {
      try folder.createDatabase()
      database = try SQLiteDatabase(path: folder.database) { false }
      try withExtendedLifetime(opening) { try Self.setUp(database, folder) }
      try loadDamage()
    } catch {
      throw OutboxError.mapping(error, folder.path)
    }
  }

  private static func setUp(_ database: SQLiteDatabase, _ folder: OutboxFolder) throws {
    let application = try database.number("PRAGMA application_id")
    let version = try database.number("PRAGMA user_version")
    let isNew = try application == 0 && version == 0 && database.number("SELECT count(*) FROM sqlite_schema") == 0
    guard isNew || application == Self.application else {
      throw OutboxError(.damaged, "“\(folder.database)” does not belong to an outbox; choose another folder.")
    }
    guard isNew || version == Self.version else {
      throw OutboxError(
        .version, "A later version of the library wrote the outbox in “\(folder.path)”; update the app.")
    }
    for pragma in ["journal_mode=WAL", "synchronous=FULL", "fullfsync=1", "checkpoint_fullfsync=1"] {
      _ = try database.text("PRAGMA " + pragma)
    }
    guard isNew else { return }
    try database.run("BEGIN EXCLUSIVE")
    for statement in schema { try database.run(statement) }
    try database.run("PRAGMA application_id=\(Self.application)")
    try database.run("PRAGMA user_version=\(Self.version)")
    try database.run("COMMIT")
  }

  private static let schema = [
    """
    CREATE TABLE entry(id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, version INTEGER NOT NULL,
    account TEXT NOT NULL, lane TEXT NOT NULL, key TEXT NOT NULL, sealed INTEGER NOT NULL, state INTEGER NOT NULL,
    attempts INTEGER NOT NULL, failures INTEGER NOT NULL, conflicts INTEGER NOT NULL, waits INTEGER NOT NULL,
    added INTEGER NOT NULL, not_before INTEGER NOT NULL, expires INTEGER, began INTEGER, unknown_since INTEGER,
    window INTEGER, attempt_limit INTEGER NOT NULL, stops INTEGER NOT NULL, ended INTEGER, reason TEXT, message TEXT,
    status INTEGER, kept INTEGER, request BLOB NOT NULL, sum INTEGER NOT NULL, blocks INTEGER NOT NULL,
    head INTEGER NOT NULL)
    """,
    "CREATE INDEX entry_due ON entry(account, not_before, id) WHERE head=1 AND state=0 AND waits=0",
    """
    CREATE INDEX entry_probe ON entry(account, not_before, id) WHERE head=1 AND state=0 AND waits=0 AND failures=0
    """,
    "CREATE INDEX entry_lane ON entry(account, lane, id) WHERE blocks=1",
    "CREATE INDEX entry_expiry ON entry(expires) WHERE state=0 AND expires IS NOT NULL",
    "CREATE INDEX entry_held ON entry(id) WHERE state=0 AND not_before=9223372036854775807",
    "CREATE INDEX entry_waiting ON entry(id) WHERE state=0 AND reason IN ('offline', 'login')",
    "CREATE INDEX entry_state ON entry(state, id)",
    "CREATE INDEX entry_ended ON entry(ended) WHERE state IN (2, 6)",
    "CREATE INDEX entry_kept ON entry(account, kept, id) WHERE kept IS NOT NULL",
    "CREATE TABLE parent(parent INTEGER NOT NULL, child INTEGER NOT NULL, PRIMARY KEY(parent, child)) WITHOUT ROWID",
    "CREATE INDEX parent_child ON parent(child)",
    "CREATE TABLE made(entry INTEGER PRIMARY KEY, value TEXT NOT NULL)",
    """
    CREATE TABLE file(name TEXT PRIMARY KEY, entry INTEGER NOT NULL, length INTEGER NOT NULL, changed INTEGER NOT NULL)
    WITHOUT ROWID
    """,
    "CREATE INDEX file_entry ON file(entry)",
    """
    CREATE TABLE damaged(id INTEGER PRIMARY KEY, type TEXT NOT NULL, account TEXT NOT NULL, lane TEXT NOT NULL,
    state INTEGER NOT NULL, stops INTEGER NOT NULL, sent INTEGER NOT NULL, reason TEXT NOT NULL, message TEXT NOT NULL)
    """,
    """
    CREATE TABLE clock(id INTEGER PRIMARY KEY, last INTEGER NOT NULL, correction INTEGER NOT NULL,
    resets INTEGER NOT NULL)
    """,
    "INSERT INTO clock VALUES (1, 0, 0, 0)",
  ]

  // MARK: - Statements

  /// Runs statements as one change, which is durable when the function returns.
  ///
  /// If `body` finds a damaged entry, the entry is noted and `body` runs again, because SQLite allows no further change
  /// in a transaction that has met damage.
  package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    while true {
      let known = (damaged, isDamageStored)
      do { return try attempt(body) } catch {
        releasedFiles = []
        (damaged, isDamageStored) = known
        if database.isInTransaction { try? run("ROLLBACK") }
        guard let found = error as? FoundDamage else { throw error }
        guard try note(found) else { throw found.failure }
      }
    }
  }

  private func attempt<Value>(_ body: () throws -> Value) throws -> Value {
    try run("BEGIN IMMEDIATE")
    try storeDamage()
    let value = try body()
    try run("COMMIT")
    files.remove(releasedFiles)
    releasedFiles = []
    return value
  }

  func run(_ sql: String, _ values: SQLValue...) throws { try prepared(sql, values).run() }

  /// Runs a statement with bytes as its last value.
  func run(_ sql: String, _ values: [SQLValue], last bytes: Data) throws {
    let statement = try prepared(sql, values)
    defer { statement.reset() }
    let failure = bytes.withUnsafeBytes { bytes in
      statement.bind(Int32(clamping: values.count + 1), staying: bytes)
      return statement.finish()
    }
    if let failure { throw failure }
  }

  func rows<Value>(_ sql: String, _ values: SQLValue..., read: (SQLiteStatement) -> Value) throws -> [Value] {
    try rows(sql, values, read: read)
  }

  func rows<Value>(_ sql: String, _ values: [SQLValue], read: (SQLiteStatement) -> Value) throws -> [Value] {
    let statement = try prepared(sql, values)
    defer { statement.reset() }
    var found: [Value] = []
    while try statement.step() { found.append(read(statement)) }
    return found
  }

  /// The number in the first column of the first row; nil if there is no row or the column is NULL.
  func number(_ sql: String, _ values: SQLValue...) throws -> Int64? {
    let statement = try prepared(sql, values)
    defer { statement.reset() }
    return try statement.step() && !statement.isNull(0) ? statement.number(0) : nil
  }

  private func prepared(_ sql: String, _ values: [SQLValue]) throws -> SQLiteStatement {
    let statement: SQLiteStatement
    if let found = statements[sql] {
      statement = found
    } else {
      statement = try database.prepare(sql)
      statements[sql] = statement
    }
    for (index, value) in values.enumerated() {
      let place = Int32(clamping: index + 1)
      switch value {
      case .number(let number): statement.bind(place, number)
      case .text(let text): statement.bind(place, text)
      }
    }
    return statement
  }

  // MARK: - Clock

  func clock() throws -> OutboxTime {
    try rows("SELECT last, correction, resets FROM clock WHERE id=1") {
      OutboxTime(last: $0.number(0), correction: $0.number(1), resets: $0.number(2))
    }.first ?? OutboxTime()
  }

  /// Adopts what another process has stored of the clock, and stores the result if the stored state is older than a
  /// second: each write of another row makes a commit larger. Returns the time. Must be called inside a transaction,
  /// before the transaction uses a time. If the transaction fails, the former state must be used again.
  func exchange(_ clock: inout OutboxTime, _ wall: WallTime) throws -> WallTime {
    let stored = try self.clock()
    let now = try clock.exchange(stored, wall) { try isClockUnused() }
    if clock.resets != stored.resets { try shorten(endsAfter: now) }
    guard clock.isAhead(of: stored) else { return now }
    try run(
      "UPDATE clock SET last=?, correction=?, resets=? WHERE id=1", .number(clock.last), .number(clock.correction),
      .number(clock.resets))
    return now
  }

  /// Whether no entry waits, and no dead letter has a key that the server may forget. The other times of dead letters
  /// are only shown, and replaced if the app resends the entry.
  private func isClockUnused() throws -> Bool {
    guard try ids(in: [.queued, .sending], after: 0, limit: 1).isEmpty else { return false }
    let limit = 1_000
    let dead = try ids(in: OutboxState.allCases.filter(\.isDeadLetter), after: 0, limit: limit)
    return try dead.count < limit && dead.allSatisfy { try facts(of: $0)?.unknownSince == nil }
  }
}

enum SQLValue {
  case number(Int64?)
  case text(String?)

  static func time(_ time: WallTime?) -> SQLValue { .number(time?.milliseconds) }
  static func flag(_ flag: Bool) -> SQLValue { .number(flag ? 1 : 0) }
}

extension OutboxError {
  static func mapping(_ error: any Error, _ path: String = "") -> OutboxError {
    if let error = error as? OutboxError { return error }
    guard let failure = error as? SQLiteFailure else { return OutboxError(.encoding, "\(error)") }
    let place = path.isEmpty ? "The outbox" : "The outbox in “\(path)”"
    let code = "(SQLite code \(failure.code))"
    switch failure.meaning {
    case .busy: return OutboxError(.busy, "\(place) is used by another process; try again.")
    case .broken where failure.isDamage:
      return OutboxError(.damaged, "\(place) is damaged \(code); keep a copy, then remove its files.")
    case .broken where failure.code & 0xFF == SQLITE_TOOBIG:
      return OutboxError(
        .encoding, "The request is too large for the database \(code); give large content to an `OutboxFile`.")
    case .broken:
      return OutboxError(.fault, "A fault of the library prevents the use of the outbox \(code); report it.")
    case .unavailable: return OutboxError(.disk, "\(place) \(obstacle(failure, code))")
    }
  }

  /// Why the database cannot be used although it is not damaged, and what to do.
  private static func obstacle(_ failure: SQLiteFailure, _ code: String) -> String {
    switch failure.code & 0xFF {
    case SQLITE_FULL: "cannot be written, because the disk is full \(code); free disk space and try again."
    case SQLITE_READONLY: "is read-only \(code); make its folder and its files writable."
    case SQLITE_PERM, SQLITE_AUTH: "must not be used by this process \(code); check the permissions of its files."
    case SQLITE_CANTOPEN:
      "cannot be opened \(code); check its files and their permissions, and how many files the process may open."
    case SQLITE_NOMEM: "cannot be used, because no memory is available \(code); try again."
    default: "cannot be written \(code); check the disk and try again."
    }
  }
}
