import CSQLite

/// An open SQLite database. All methods must be called on one thread.
final class SQLiteDatabase {
  private let handle: OpaquePointer
  private let patience: SQLitePatience

  /// Opens an existing file.
  /// - Parameters:
  ///   - isReadOnly: Whether changes are forbidden.
  ///   - gives: Called while another process holds a lock of the database. If it returns true, the wait ends.
  init(path: String, isReadOnly: Bool = false, gives up: @escaping () -> Bool) throws(SQLiteFailure) {
    var opened: OpaquePointer?
    let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      sqlite3_close_v2(opened)
      throw SQLiteFailure(code: code)
    }
    handle = opened
    patience = SQLitePatience(gives: up)
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_handler(handle, SQLitePatience.handler, Unmanaged.passUnretained(patience).toOpaque())
    // Keep the write-ahead log when the last connection closes. Otherwise a connection to an index file that has been
    // replaced could delete the log of the new file.
    var stays: Int32 = 1
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &stays)
  }

  deinit { sqlite3_close_v2(handle) }

  func prepare(_ sql: String) throws(SQLiteFailure) -> SQLiteStatement {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else { throw SQLiteFailure(code: sqlite3_extended_errcode(handle)) }
    return SQLiteStatement(statement)
  }

  func run(_ sql: String) throws(SQLiteFailure) {
    try prepare(sql).run()
  }

  /// The number that a statement returns, for example the value of a pragma.
  func number(_ sql: String) throws(SQLiteFailure) -> Int64 {
    let statement = try prepare(sql)
    return try statement.step() ? statement.number(0) : 0
  }

  func text(_ sql: String) throws(SQLiteFailure) -> String? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.text(0) : nil
  }

  /// Moves the content of the write-ahead log to the database file and truncates the log. Returns false if another
  /// process prevents the truncation.
  /// - Parameters:
  ///   - least: The minimum time to wait for each lock, even if other jobs wait for the store's thread.
  ///   - most: The maximum time to wait for each lock.
  func truncateLog(waiting least: Duration, atMost most: Duration) throws(SQLiteFailure) -> Bool {
    (patience.least, patience.most) = (least, most)
    defer { (patience.least, patience.most) = (.zero, SQLitePatience.longest) }
    return try number("PRAGMA wal_checkpoint(TRUNCATE)") == 0
  }

  /// Whether a transaction is open.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The number of rows that the last statement changed.
  var changes: Int { Int(sqlite3_changes(handle)) }
}
