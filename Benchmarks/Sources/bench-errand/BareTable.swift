import CBareSQLite
import Foundation

/// An SQLite table of names and bytes with prepared statements.
final class BareTable {
  struct Failure: Error { let code: Int32 }

  private var database: OpaquePointer?
  private var select: OpaquePointer?
  private var insertion: OpaquePointer?

  /// - Parameter synchronous: `NORMAL` as the cache, or `FULL` as the outbox: a commit survives a power cut.
  init(_ path: String, synchronous: String = "NORMAL") throws {
    try check(sqlite3_open(path, &database))
    try check(
      sqlite3_exec(
        database,
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=\(synchronous); CREATE TABLE t(k TEXT PRIMARY KEY, b BLOB)",
        nil, nil, nil))
    try check(sqlite3_prepare_v2(database, "INSERT INTO t VALUES(?1, ?2)", -1, &insertion, nil))
    try check(sqlite3_prepare_v2(database, "SELECT b FROM t WHERE k = ?1", -1, &select, nil))
  }

  deinit {
    sqlite3_finalize(select)
    sqlite3_finalize(insertion)
    sqlite3_close(database)
  }

  func insert(_ name: String, _ body: Data) throws {
    try name.withCString { name in
      sqlite3_bind_text(insertion, 1, name, -1, nil)
      try body.withUnsafeBytes { bytes in
        sqlite3_bind_blob(insertion, 2, bytes.baseAddress, Int32(bytes.count), nil)
        guard sqlite3_step(insertion) == SQLITE_DONE else { throw Failure(code: sqlite3_errcode(database)) }
      }
    }
    sqlite3_reset(insertion)
  }

  func read(_ name: String) throws -> Data {
    try name.withCString { name in
      sqlite3_bind_text(select, 1, name, -1, nil)
      defer { sqlite3_reset(select) }
      guard sqlite3_step(select) == SQLITE_ROW, let bytes = sqlite3_column_blob(select, 0) else {
        throw Failure(code: sqlite3_errcode(database))
      }
      return Data(bytes: bytes, count: Int(sqlite3_column_bytes(select, 0)))
    }
  }

  /// Runs statements on another database.
  static func run(_ statements: [String], on path: String) throws {
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    guard sqlite3_open(path, &database) == SQLITE_OK else { throw Failure(code: sqlite3_errcode(database)) }
    for statement in statements {
      let code = sqlite3_exec(database, statement, nil, nil, nil)
      guard code == SQLITE_OK else { throw Failure(code: code) }
    }
  }

  private func check(_ code: Int32) throws {
    guard code == SQLITE_OK else { throw Failure(code: code) }
  }
}
