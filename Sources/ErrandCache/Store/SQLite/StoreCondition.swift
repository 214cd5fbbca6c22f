import ErrandSupport
package import Foundation

/// The condition of a store's folder. The check does not create, empty or change a store.
///
/// A ``SQLiteStore`` creates an index that is missing and empties an index that it cannot read. Code that must not
/// change the folder, such as a command line tool, checks the condition first.
package enum StoreCondition: Sendable, Hashable {
  /// The path does not exist.
  case missing
  /// The path is not a folder.
  case noFolder
  /// The user may not read or write the folder. The value is the error number (`errno`) of the system.
  case closed(Int32)
  /// The folder belongs to another user, other users may write to it, or they could replace it. The text names the
  /// folder and the cure.
  case notPrivate(String)
  /// The folder contains no files of other programs. It may contain a store to which nothing has been written yet.
  case empty
  /// The folder contains files of other programs and no store.
  case occupied
  /// The folder contains an index that another program wrote.
  case foreign
  /// The folder contains a store of another version of the library.
  case otherVersion
  /// The folder contains a store that is damaged and cannot be read.
  case damaged
  /// The folder contains a store that can be used.
  case usable

  /// Determines the condition of a folder. Reads the whole index once, on the caller's thread.
  package init(of url: URL) {
    let folder = StoreFolder(url)
    self = Self.condition(of: folder.path) ?? Self.privacy(of: folder) ?? Self.condition(of: folder)
  }

  /// The condition of a path that cannot be used as a folder; nil for a folder that the user may read and write.
  private static func condition(of path: String) -> StoreCondition? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      return errno == ENOENT ? .missing : errno == ENOTDIR ? .noFolder : .closed(errno)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { return .noFolder }
    return access(path, R_OK | W_OK | X_OK) == 0 ? nil : .closed(errno)
  }

  /// Returns ``StoreCondition/notPrivate(_:)`` for a folder that is not private to the user. Nil for a private folder,
  /// and for a folder that a store would make private.
  private static func privacy(of folder: StoreFolder) -> StoreCondition? {
    guard let fault = folder.fault, !(fault == .sharedWrite && folder.canBeClosed) else { return nil }
    return .notPrivate(fault.sentence(folder.path))
  }

  private static func condition(of folder: StoreFolder) -> StoreCondition {
    switch SystemFile.kind(folder.index) {
    case .file: break
    case .folder, .other: return .occupied
    // A store to which nothing has been written yet has no index.
    case .nothing: return folder.holdsOthers ? .occupied : .empty
    }
    guard access(folder.index, R_OK | W_OK) == 0 else { return .closed(errno) }
    do throws(SQLiteFailure) {
      return try condition(ofIndex: folder.index)
    } catch {
      switch error.meaning {
      // A store that another process uses at the moment is busy, but it is not damaged.
      case .busy: return .usable
      case .broken: return .damaged
      case .unavailable: return .closed(error.errorNumber(in: folder.path) ?? EIO)
      }
    }
  }

  private static func condition(ofIndex path: String) throws(SQLiteFailure) -> StoreCondition {
    let database = try SQLiteDatabase(path: path, isReadOnly: true) { false }
    let application = try database.number("PRAGMA application_id")
    let version = try database.number("PRAGMA user_version")
    if application == 0, version == 0, try database.number("SELECT count(*) FROM sqlite_schema") == 0 { return .empty }
    guard application == StoreQuery.application else { return .foreign }
    guard version == StoreQuery.version else { return .otherVersion }
    return try database.text("PRAGMA quick_check(1)") == "ok" ? .usable : .damaged
  }
}

extension StoreFolder {
  /// Whether a store would make the folder private. False for a folder that all users share, such as `/tmp`.
  fileprivate var canBeClosed: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_ISVTX == 0
  }

  /// Whether the folder contains files that do not belong to a store.
  fileprivate var holdsOthers: Bool {
    SystemFile.names(path).contains { !$0.hasPrefix("errand-cache.") }
  }
}
