import CSQLite

/// What SQLite or the file system refused, and what follows from it.
struct SQLiteFailure: Error {
  /// What a store does about a failure.
  enum Meaning {
    /// Somebody else is at it: try again.
    case busy
    /// The files are no store of ours, or damaged: away with them.
    case broken
    /// The disk is full, read-only or gone: do without.
    case surroundings
  }

  /// The extended result code.
  let code: Int32

  /// The store is not one of ours: another program's, or of another version.
  static let foreign = SQLiteFailure(code: SQLITE_NOTADB)
  /// The folder belongs to another user, or others may write to it.
  static let notPrivate = SQLiteFailure(code: SQLITE_PERM)
  /// The folder cannot be used.
  static let noFolder = SQLiteFailure(code: SQLITE_CANTOPEN)
  /// What is stored lies under another salt than the one that this process had to make up.
  static let otherSalt = SQLiteFailure(code: SQLITE_CANTOPEN | 0xFF << 8)
  /// A body could not be written.
  static let noRoom = SQLiteFailure(code: SQLITE_FULL)
  /// Another process is at it.
  static let busy = SQLiteFailure(code: SQLITE_BUSY)

  var meaning: Meaning {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL, SQLITE_INTERRUPT: .busy
    // A failed read: the plain one, a short one, and a file system that is damaged itself.
    case SQLITE_IOERR: [1, 2, 33].contains(code >> 8) ? .broken : .surroundings
    case SQLITE_FULL, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH, SQLITE_NOMEM, SQLITE_NOLFS:
      .surroundings
    default: .broken
    }
  }
}
