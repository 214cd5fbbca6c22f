import CSQLite

/// A failure of SQLite or of the file system, and its consequence for the store.
struct SQLiteFailure: Error {
  /// The reaction of a store to a failure.
  enum Meaning {
    /// Another process uses the database. The store tries again.
    case busy
    /// The files are damaged, or do not belong to a store of this version. The store empties the folder.
    case broken
    /// The disk is full, read-only or unavailable. The store does not use the disk for a while.
    case unavailable
  }

  /// The extended result code of SQLite.
  let code: Int32

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

  var meaning: Meaning {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL, SQLITE_INTERRUPT: .busy
    // These codes mean damage: a failed read (1), a short read (2), and a damaged file system (33).
    case SQLITE_IOERR: [1, 2, 33].contains(code >> 8) ? .broken : .unavailable
    case SQLITE_FULL, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH, SQLITE_NOMEM, SQLITE_NOLFS:
      .unavailable
    default: .broken
    }
  }
}
