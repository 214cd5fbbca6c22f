import CSQLite
import ErrandCore
import Foundation

/// An open SQLite database. All methods must be called on one thread.
package final class SQLiteDatabase {
  private let handle: OpaquePointer
  private let patience: SQLitePatience

  /// Opens an existing file.
  /// - Parameters:
  ///   - isReadOnly: Whether changes are forbidden.
  ///   - gives: Called while another process holds a lock of the database. If it returns true, the wait ends.
  package init(path: String, isReadOnly: Bool = false, gives up: @escaping () -> Bool) throws(SQLiteFailure) {
    var opened: OpaquePointer?
    let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      let systemCode = sqlite3_system_errno(opened)
      sqlite3_close_v2(opened)
      throw SQLiteFailure(code: code, systemCode: systemCode)
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

  package func prepare(_ sql: String) throws(SQLiteFailure) -> SQLiteStatement {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else { throw SQLiteFailure(of: handle) }
    return SQLiteStatement(statement)
  }

  package func run(_ sql: String) throws(SQLiteFailure) {
    try prepare(sql).run()
  }

  /// The number that a statement returns, for example the value of a pragma.
  package func number(_ sql: String) throws(SQLiteFailure) -> Int64 {
    let statement = try prepare(sql)
    return try statement.step() ? statement.number(0) : 0
  }

  package func text(_ sql: String) throws(SQLiteFailure) -> String? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.text(0) : nil
  }

  /// Moves the content of the write-ahead log to the database file and truncates the log. Returns false if another
  /// process prevents the truncation. Waits for each lock at least 10 ms, even if other jobs wait for the store's thread.
  /// - Parameter most: The maximum time to wait for each lock.
  func truncateLog(atMost most: Duration = SQLitePatience.longest) throws(SQLiteFailure) -> Bool {
    (patience.least, patience.most) = (.milliseconds(10), most)
    defer { (patience.least, patience.most) = (.zero, SQLitePatience.longest) }
    return try number("PRAGMA wal_checkpoint(TRUNCATE)") == 0
  }

  /// Whether a transaction is open.
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The number of rows that the last statement changed.
  package var changes: Int { Int(sqlite3_changes(handle)) }
}

/// A prepared statement that is used several times. All methods must be called on one thread.
package final class SQLiteStatement {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  package func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }
  package func bind(_ index: Int32, _ value: Int64?) {
    if let value { bind(index, value) } else { sqlite3_bind_null(handle, index) }
  }

  /// Binds a text, which SQLite copies.
  package func bind(_ index: Int32, _ value: String?) {
    guard var value else {
      sqlite3_bind_null(handle, index)
      return
    }
    value.withUTF8 { bytes in
      _ = bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(handle, index, $0.baseAddress, Int32(clamping: $0.count), Self.copied)
      }
    }
  }

  /// Binds bytes without copying them. The bytes must stay valid until ``reset()`` is called.
  package func bind(_ index: Int32, staying bytes: UnsafeRawBufferPointer?) {
    guard let bytes else {
      sqlite3_bind_null(handle, index)
      return
    }
    guard let base = bytes.baseAddress, !bytes.isEmpty else {
      sqlite3_bind_zeroblob(handle, index, 0)
      return
    }
    sqlite3_bind_blob64(handle, index, base, UInt64(bytes.count), nil)
  }

  /// Advances to the next row. Returns false after the last row.
  package func step() throws(SQLiteFailure) -> Bool {
    let code = sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw SQLiteFailure(of: sqlite3_db_handle(handle))
    }
  }

  /// Prepares the statement for its next use, and clears its bound values.
  package func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// Runs the statement to its end, ignores its rows, and prepares it for its next use.
  package func run() throws(SQLiteFailure) {
    defer { reset() }
    while try step() {}
  }

  /// Runs the statement to its end. Returns a failure instead of throwing it, because callers use this method inside a
  /// closure that cannot throw a ``SQLiteFailure``.
  package func finish() -> SQLiteFailure? {
    do throws(SQLiteFailure) {
      while try step() {}
      return nil
    } catch {
      return error
    }
  }

  package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  package func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  package func text(_ column: Int32) -> String? {
    guard let text = sqlite3_column_text(handle, column) else { return nil }
    let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column)))
    return String(validating: bytes, as: UTF8.self)
  }

  /// The bytes of a column, without a copy. They are valid until the statement advances to the next row.
  package func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let base = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(handle, column)))
  }

  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

/// Decides how long a SQL statement waits for another process: at most five seconds, or less if other jobs wait for the
/// store's thread.
final class SQLitePatience {
  /// The minimum time that a statement waits for another process, even if other jobs wait for the store's thread.
  var least = Duration.zero
  /// The maximum time that a statement waits for another process.
  var most = SQLitePatience.longest
  static let longest = Duration.seconds(5)
  private let gives: () -> Bool
  private var began = MonotonicInstant(nanoseconds: 0)

  init(gives up: @escaping () -> Bool) { gives = up }

  private func waitsOn(_ round: Int32) -> Bool {
    if round == 0 { began = .now }
    let waited = began.duration(to: .now)
    guard waited < most, waited < least || !gives() else { return false }
    usleep(round < 5 ? 200 : 1_000)
    return true
  }

  /// The function that SQLite calls while another process holds a lock. If it returns zero, SQLite stops waiting.
  static let handler: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { context, round in
    guard let context else { return 0 }
    return Unmanaged<SQLitePatience>.fromOpaque(context).takeUnretainedValue().waitsOn(round) ? 1 : 0
  }
}

/// A failure of SQLite or of the file system, and its consequence for the store.
package struct SQLiteFailure: Error {
  /// The reaction of a store to a failure.
  package enum Meaning {
    /// Another process uses the database. The store tries again.
    case busy
    /// The files are damaged, or do not belong to a store of this version. The store empties the folder.
    case broken
    /// The disk is full, read-only or unavailable. The store does not use the disk for a while.
    case unavailable
  }

  /// The extended result code of SQLite.
  package let code: Int32
  /// The error number (`errno`) of the last failed file operation; 0 if there was none. It explains only a failure to
  /// open, read or write a file.
  private let systemCode: Int32

  init(code: Int32, systemCode: Int32 = 0) { (self.code, self.systemCode) = (code, systemCode) }

  /// The failure of the last call of a database.
  init(of database: OpaquePointer?) {
    self.init(code: sqlite3_extended_errcode(database), systemCode: sqlite3_system_errno(database))
  }

  /// Another program or another version of the library wrote the store.
  static let foreign = SQLiteFailure(code: SQLITE_NOTADB)
  /// The folder belongs to another user, or other users may write to it.
  static let notPrivate = SQLiteFailure(code: SQLITE_PERM)
  /// The folder cannot be created, opened or read.
  static let noFolder = SQLiteFailure(code: SQLITE_CANTOPEN)
  /// The entries in the folder were stored with another salt than the temporary salt of this process. A salt is random
  /// bytes that are part of every digest.
  static let otherSalt = SQLiteFailure(code: SQLITE_CANTOPEN | 0xFF << 8)
  /// A body could not be written to its file.
  static let noRoom = SQLiteFailure(code: SQLITE_FULL)
  /// Another process uses the database.
  static let busy = SQLiteFailure(code: SQLITE_BUSY)

  package var meaning: Meaning {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL, SQLITE_INTERRUPT: .busy
    // These codes mean damage: a failed read (1), a short read (2), and a damaged file system (33).
    case SQLITE_IOERR: [1, 2, 33].contains(code >> 8) ? .broken : .unavailable
    case SQLITE_FULL, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH, SQLITE_NOMEM, SQLITE_NOLFS:
      .unavailable
    default: .broken
    }
  }

  /// The error number of the system that explains the failure; nil if none is known. SQLite does not always keep the
  /// number, so a disk without space for the index counts as full.
  package func errorNumber(in folder: String) -> Int32? {
    switch code & 0xFF {
    case SQLITE_FULL: ENOSPC
    case SQLITE_IOERR, SQLITE_CANTOPEN:
      SystemFile.isFull(folder) ? ENOSPC : systemCode == 0 ? nil : systemCode
    default: nil
    }
  }

  /// A short text for people, such as `No space left on device`.
  func cause(in folder: String) -> String {
    if let number = errorNumber(in: folder) { return String(cString: strerror(number)) }
    return sqlite3_errstr(code).map { String(cString: $0) } ?? "SQLite error \(code)"
  }
}
