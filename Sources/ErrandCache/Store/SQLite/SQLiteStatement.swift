import CSQLite
import Foundation

/// A prepared statement that is used several times. All methods must be called on one thread.
final class SQLiteStatement {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }
  func bind(_ index: Int32, _ value: Int64?) {
    if let value { bind(index, value) } else { sqlite3_bind_null(handle, index) }
  }

  /// Binds a text, which SQLite copies.
  func bind(_ index: Int32, _ value: String?) {
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
  func bind(_ index: Int32, staying bytes: UnsafeRawBufferPointer?) {
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
  func step() throws(SQLiteFailure) -> Bool {
    let code = sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw SQLiteFailure(code: sqlite3_extended_errcode(sqlite3_db_handle(handle)))
    }
  }

  /// Prepares the statement for its next use, and clears its bound values.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// Runs the statement to its end, ignores its rows, and prepares it for its next use.
  func run() throws(SQLiteFailure) {
    defer { reset() }
    while try step() {}
  }

  /// Runs the statement to its end. Returns a failure instead of throwing it, because callers use this method inside a
  /// closure that cannot throw a ``SQLiteFailure``.
  func finish() -> SQLiteFailure? {
    do throws(SQLiteFailure) {
      while try step() {}
      return nil
    } catch {
      return error
    }
  }

  func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func text(_ column: Int32) -> String? {
    guard let text = sqlite3_column_text(handle, column) else { return nil }
    let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column)))
    return String(validating: bytes, as: UTF8.self)
  }

  /// The bytes of a column, without a copy. They are valid until the statement advances to the next row.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let base = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(handle, column)))
  }

  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
