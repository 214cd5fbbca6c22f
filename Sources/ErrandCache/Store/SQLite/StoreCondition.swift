package import Foundation

/// What lies where a store is looked for: found out without making a store, emptying or changing one.
///
/// A ``SQLiteStore`` itself makes what is missing and empties what it cannot read. Who only wants to look asks this
/// first.
package enum StoreCondition: Sendable, Hashable {
  /// Nothing is there.
  case missing
  /// What is there is no folder.
  case noFolder
  /// The user may not read it or not write to it; with the system's error number.
  case closed(Int32)
  /// The folder belongs to another user, or others may write to it; with a sentence that names it and the cure.
  case notPrivate(String)
  /// A folder that nothing was put into, neither by a store nor by anybody else.
  case empty
  /// A folder with other things in it, and no store.
  case occupied
  /// An index that another program wrote.
  case foreign
  /// A store of another version of the library.
  case otherVersion
  /// A store that cannot be read.
  case damaged
  /// A store.
  case usable

  /// Looks at a folder. Reads the whole index once, on the caller's thread.
  package init(of url: URL) {
    let folder = StoreFolder(url)
    self = Self.condition(of: folder.path) ?? Self.privacy(of: folder) ?? Self.condition(of: folder)
  }

  /// What is clear of the path alone; nil for a folder that may be used.
  private static func condition(of path: String) -> StoreCondition? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      return errno == ENOENT ? .missing : errno == ENOTDIR ? .noFolder : .closed(errno)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { return .noFolder }
    return access(path, R_OK | W_OK | X_OK) == 0 ? nil : .closed(errno)
  }

  /// Nil for a folder that is the user's alone, or that a store would close to others.
  private static func privacy(of folder: StoreFolder) -> StoreCondition? {
    guard let fault = folder.fault, !(fault == .sharedWrite && folder.canBeClosed) else { return nil }
    return .notPrivate(fault.sentence(folder.path))
  }

  private static func condition(of folder: StoreFolder) -> StoreCondition {
    switch SystemFile.kind(folder.index) {
    case .file: break
    case .folder, .other: return .occupied
    // A store that was never written to has no index yet.
    case .nothing: return folder.holdsOthers ? .occupied : .empty
    }
    guard access(folder.index, R_OK | W_OK) == 0 else { return .closed(errno) }
    do throws(SQLiteFailure) {
      return try condition(ofIndex: folder.index)
    } catch {
      switch error.meaning {
      // Whoever keeps it busy could use it.
      case .busy: return .usable
      case .broken: return .damaged
      case .surroundings: return .closed(EIO)
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
  /// Whether a store would close the folder to other users: not if it is one that all share.
  fileprivate var canBeClosed: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_ISVTX == 0
  }

  /// Whether anything but a store's files lies in it.
  fileprivate var holdsOthers: Bool {
    SystemFile.names(path).contains { !$0.hasPrefix("errand-cache.") }
  }
}
