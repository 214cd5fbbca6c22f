import CSQLite
import ErrandCore
import Foundation

/// The open SQLite index of a ``SQLiteStore``, and the files of large bodies next to it. Used only on the store's
/// thread.
///
/// A body file is written inside the transaction that adds its row, and is removed after the transaction that removes
/// its row. So if this process holds the write lock of the database, a file without a row was left by a crash.
final class StoreIndex {
  let settings: StoreSettings
  let database: SQLiteDatabase
  let files: BodyFiles
  /// The salt (random bytes) with which all digests in the index were computed.
  let salt: StoreSalt
  /// The shared lock of the folder. It is held as long as the index is open, so that no other process empties the
  /// folder.
  private let shared: FileLock
  private let identity: [UInt64]
  private var statements = [SQLiteStatement?](repeating: nil, count: StoreQuery.allCases.count)
  /// Whether the body files without a row in the index have been removed.
  private var isSwept = false
  private var written: [String] = []
  private var removed: [String] = []
  private var fileBytesAdded: Int64 = 0

  /// Opens the index. Creates the index if it does not exist. Rejects an index of another program or another version.
  /// - Parameter salt: The salt of this process. It replaces a different salt in the folder. But a salt that was just
  ///   created, such as a temporary salt, replaces only a salt that was also just created.
  init(_ settings: StoreSettings, salt: StoreSalt, gives up: @escaping () -> Bool) throws(SQLiteFailure) {
    let folder = settings.folder
    try folder.prepare()
    guard let setUp = FileLock.alone(folder.salt), let stored = StoreSalt.load(setUp) else { throw .noFolder }
    // A temporary salt must not replace the salt of the folder, because other processes could not find their entries
    // any more.
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
        try database.run("INSERT INTO salt VALUES (1, \(salt.mark))")
      }
    }
    guard try database.number("PRAGMA auto_vacuum") == 2,
      try database.number("PRAGMA page_size") == StoreSettings.pageSize
    else { throw .foreign }
  }

  // MARK: - The salt

  /// Rejects an index whose entries were stored with another salt, for example because the salt file was lost. The
  /// digests of such entries match nothing, so the entries of an account could not be found and removed.
  private func checkMark() throws(SQLiteFailure) {
    guard try database.number("SELECT mark FROM salt") == salt.mark else { throw .foreign }
  }

  /// Whether the index file was moved, removed or replaced while it was open.
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

  /// Runs `body` in a transaction with the write lock of the database.
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

  /// Writes a body file. If the transaction fails, the file is removed.
  func addFile(_ body: Data) throws(SQLiteFailure) -> String {
    guard let name = files.write(body) else { throw .noRoom }
    written.append(name)
    fileBytesAdded = fileBytesAdded.saturatingSum(Int64(body.count))
    return name
  }

  /// Removes a body file after the transaction has succeeded. If the size of the file is implausible, the total size of
  /// all files is computed again later.
  func removeFile(_ name: String, bytes: Int64) {
    removed.append(name)
    if (0...Int64(settings.limit)).contains(bytes) {
      fileBytesAdded = fileBytesAdded.saturatingDifference(bytes)
    } else {
      isSwept = false
    }
  }

  /// The total size of all body files in bytes, including the changes of the current transaction. The value is clamped
  /// to a plausible range.
  func fileBytes() throws(SQLiteFailure) -> Int {
    let sum = Int64(try number(.fileBytes)).saturatingSum(fileBytesAdded)
    return Int(min(max(sum, 0), 1 << 60))
  }

  /// Removes body files that a crash left without a row in the index. The method does this work only once, before the
  /// first write.
  func sweepOnce() throws(SQLiteFailure) {
    guard !isSwept else { return }
    try transaction { () throws(SQLiteFailure) in
      var wanted: Set<String> = []
      let statement = try statement(.files)
      defer { statement.reset() }
      while try statement.step() {
        if let name = statement.text(0) { wanted.insert(name) }
      }
      try run(.setFileBytes, Int64(files.sweep(keeping: wanted)))
    }
    isSwept = true
  }
}
