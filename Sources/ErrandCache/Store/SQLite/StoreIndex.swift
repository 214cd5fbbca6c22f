import CSQLite
import Foundation

/// The open index of a ``SQLiteStore`` and the bodies' files beside it. Used on the store's thread alone.
///
/// A row and its body's file are one: the file is written inside the transaction that adds the row, and removed after
/// the one that takes it away. So under the lock for writing every file without a row is an orphan of a crash.
final class StoreIndex {
  let settings: StoreSettings
  let database: SQLiteDatabase
  let files: BodyFiles
  /// The salt that all entries were stored under.
  let salt: StoreSalt
  /// Kept for as long as the index is open: nobody empties the folder meanwhile.
  private let shared: FileLock
  private let identity: [UInt64]
  private var statements = [SQLiteStatement?](repeating: nil, count: StoreQuery.allCases.count)
  /// Whether the index says under which salt its entries were stored.
  private var isMarked = false
  /// Whether files without a row have been looked for.
  private var isSwept = false
  private var written: [String] = []
  private var removed: [String] = []
  private var fileBytesAdded: Int64 = 0

  /// Opens the index, makes it where it is missing, and refuses one that is not ours.
  /// - Parameter salt: The one that this process goes by. It becomes the folder's.
  init(_ settings: StoreSettings, salt: StoreSalt, gives up: @escaping () -> Bool) throws(SQLiteFailure) {
    let folder = settings.folder
    try folder.prepare()
    guard let setUp = FileLock.alone(folder.salt), let stored = StoreSalt.load(setUp) else { throw .noFolder }
    // What others have stored is worth more than what this process may store under a salt that it had to make up.
    guard !salt.isNew || stored.isNew || stored.digest == salt.digest else { throw .otherSalt }
    guard let shared = FileLock.shared(folder.lock) else { throw .busy }
    try folder.makeIndex()
    self.settings = settings
    self.shared = shared
    self.salt = salt
    identity = SystemFile.identity(folder.index)
    files = BodyFiles(folder: folder.bodies)
    database = try SQLiteDatabase(path: folder.index, gives: up)
    try withExtendedLifetime(setUp) { () throws(SQLiteFailure) in
      try configure()
      try checkMark()
      guard salt.digest == stored.digest || salt.write(setUp) else { throw .noFolder }
    }
  }

  private func configure() throws(SQLiteFailure) {
    let tables = try database.number("SELECT count(*) FROM sqlite_schema")
    let application = try database.number("PRAGMA application_id")
    let version = try database.number("PRAGMA user_version")
    let isNew = tables == 0 && application == 0 && version == 0
    guard isNew || application == StoreQuery.application && version == StoreQuery.version else { throw .foreign }
    if isNew { try database.run("PRAGMA auto_vacuum = INCREMENTAL") }
    guard try database.text("PRAGMA journal_mode = WAL") == "wal" else { throw .noFolder }
    for pragma in [
      "synchronous = NORMAL", "temp_store = MEMORY", "secure_delete = FAST", "cell_size_check = ON",
      "trusted_schema = OFF", "mmap_size = 0", "cache_size = -4096",
      "wal_autocheckpoint = \(settings.framesPerTransaction)",
      "journal_size_limit = \(settings.logLimit)",
    ] { try database.run("PRAGMA \(pragma)") }
    if isNew {
      try transaction { () throws(SQLiteFailure) in
        for sql in StoreQuery.schema { try database.run(sql) }
        try mark()
      }
    }
    guard try database.number("PRAGMA auto_vacuum") == 2,
      try database.number("PRAGMA page_size") == StoreSettings.pageSize
    else { throw .foreign }
  }

  // MARK: - The salt

  /// Refuses entries that were stored under another salt, as where the folder's was lost: nobody could tell whose they
  /// are. An index of an earlier version has no mark; it is the salt's, if that was there before.
  private func checkMark() throws(SQLiteFailure) {
    if let stored = try storedMark() {
      guard stored == salt.mark else { throw .foreign }
      isMarked = true
    } else if salt.isNew, try number(.count) > 0 {
      throw .foreign
    }
  }

  private func storedMark() throws(SQLiteFailure) -> Int64? {
    guard try database.number("SELECT count(*) FROM sqlite_schema WHERE name = 'salt'") > 0 else { return nil }
    let statement = try database.prepare("SELECT mark FROM salt")
    return try statement.step() ? statement.number(0) : nil
  }

  /// Binds the index to the salt. Inside a transaction.
  private func mark() throws(SQLiteFailure) {
    // Somebody else may have come first.
    guard try storedMark() ?? salt.mark == salt.mark else { throw .foreign }
    try database.run(StoreQuery.saltTable)
    try database.run("INSERT OR REPLACE INTO salt VALUES (1, \(salt.mark))")
  }

  /// Whether somebody moved or removed the index's file while it was open.
  var isGone: Bool { SystemFile.identity(settings.folder.index) != identity }

  func statement(_ query: StoreQuery) throws(SQLiteFailure) -> SQLiteStatement {
    if let statement = statements[query.rawValue] { return statement }
    let statement = try database.prepare(query.sql)
    statements[query.rawValue] = statement
    return statement
  }

  func run(_ query: StoreQuery, _ value: Int64? = nil) throws(SQLiteFailure) {
    let statement = try statement(query)
    if let value { statement.bind(1, value) }
    try statement.run()
  }

  func number(_ query: StoreQuery) throws(SQLiteFailure) -> Int {
    let statement = try statement(query)
    defer { statement.reset() }
    return try statement.step() ? Int(clamping: statement.number(0)) : 0
  }

  // MARK: - Transactions

  /// Runs `body` as a whole or not at all, alone among all processes.
  func transaction<Result>(_ body: () throws(SQLiteFailure) -> Result) throws(SQLiteFailure) -> Result {
    try run(.begin)
    do throws(SQLiteFailure) {
      let result = try body()
      if fileBytesAdded != 0 { try run(.addFileBytes, fileBytesAdded) }
      try run(.commit)
      files.remove(removed)
      (written, removed, fileBytesAdded) = ([], [], 0)
      return result
    } catch {
      if database.isInTransaction { try? run(.rollback) }
      files.remove(written)
      (written, removed, fileBytesAdded) = ([], [], 0)
      throw error
    }
  }

  /// Writes a body's file, which goes again if the transaction fails.
  func addFile(_ body: Data) throws(SQLiteFailure) -> String {
    guard let name = files.write(body) else { throw .noRoom }
    written.append(name)
    fileBytesAdded = fileBytesAdded.saturatingSum(Int64(body.count))
    return name
  }

  /// Removes a body's file, once the transaction has succeeded. Where its size cannot be right all files are counted
  /// again.
  func removeFile(_ name: String, bytes: Int64) {
    removed.append(name)
    if (0...Int64(settings.limit)).contains(bytes) {
      fileBytesAdded = fileBytesAdded.saturatingDifference(bytes)
    } else {
      isSwept = false
    }
  }

  /// The bytes of all bodies' files, what the transaction does included. A number that no disk has is cut off.
  func fileBytes() throws(SQLiteFailure) -> Int {
    let sum = Int64(try number(.fileBytes)).saturatingSum(fileBytesAdded)
    return Int(min(max(sum, 0), 1 << 60))
  }

  /// Removes the files that a crash left without a row, and binds an index of an earlier version to the salt; once, at
  /// the first writing.
  func sweepOnce() throws(SQLiteFailure) {
    guard !isSwept else { return }
    try transaction { () throws(SQLiteFailure) in
      if !isMarked { try mark() }
      var wanted: Set<String> = []
      let statement = try statement(.files)
      defer { statement.reset() }
      while try statement.step() {
        if let name = statement.text(0) { wanted.insert(name) }
      }
      try run(.setFileBytes, Int64(files.sweep(keeping: wanted)))
    }
    (isSwept, isMarked) = (true, true)
  }
}
