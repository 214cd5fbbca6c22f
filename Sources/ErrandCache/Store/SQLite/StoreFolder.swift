import Foundation

/// The folder of a ``SQLiteStore``: what lies in it, and how it is made, locked and emptied.
///
/// | name | what |
/// |---|---|
/// | `errand-cache.sqlite`, `-wal`, `-shm` | heads, and bodies that are not large |
/// | `errand-cache.bodies/` | a file for each large body, under a random name |
/// | `errand-cache.salt` | 32 random bytes and their checksum; locked while a store is opened or emptied |
/// | `errand-cache.owed-…` | removals that could not be done yet: see ``RemovalJournal`` |
/// | `errand-cache.lock` | empty; shared by all who have the store open, so that nobody empties it meanwhile |
struct StoreFolder: Sendable {
  let path: String
  let index: String
  let bodies: String
  let salt: String
  let lock: String
  /// What has to be removed before anything is read.
  let journal: RemovalJournal

  init(_ url: URL) {
    path = url.path(percentEncoded: false)
    let name = path + (path.hasSuffix("/") ? "" : "/") + "errand-cache."
    index = name + "sqlite"
    bodies = name + "bodies"
    salt = name + "salt"
    lock = name + "lock"
    journal = RemovalJournal(folder: path)
  }

  private var indexFiles: [String] { [index, index + "-wal", index + "-shm", index + "-journal"] }

  /// Bytes of the index's log.
  var logLength: Int { SystemFile.length(index + "-wal") }

  /// Brings the log to the disk itself, and with it what SQLite has committed; false where that did not go.
  ///
  /// No lock of SQLite's lies on the log, so that it may be opened and closed here.
  func synchronizeLog() -> Bool { SystemFile.synchronize(file: index + "-wal") }

  /// Bytes of everything but the bodies' files.
  var indexLength: Int { (indexFiles + [salt, lock]).reduce(0) { $0 + SystemFile.length($1) } }

  /// Why the folder must not be used; nil if it may be, or is missing.
  var fault: FolderFault? { SystemFile.folderFault(path) }

  /// Makes the folder and what must be there before the index is opened. What has one of our names but is of another
  /// kind, or belongs to another user, is moved aside. A folder that is not the user's alone is refused untouched.
  func prepare() throws(SQLiteFailure) {
    guard SystemFile.makeFolder(path) else { throw .noFolder }
    guard SystemFile.makePrivate(path) == nil else { throw .notPrivate }
    for name in indexFiles + [salt, lock] where ![.nothing, .file].contains(SystemFile.kind(name)) { setAside(name) }
    if ![.nothing, .folder].contains(SystemFile.kind(bodies)) { setAside(bodies) }
    for name in indexFiles + [salt, lock, bodies] where SystemFile.isForeign(name) { setAside(name) }
    guard SystemFile.makeFolder(bodies) else { throw .noFolder }
    guard SystemFile.makePrivate(bodies) == nil else { throw .notPrivate }
    keepFromBackup()
  }

  /// Makes an empty index where there is none. Under the lock of the salt's file.
  func makeIndex() throws(SQLiteFailure) {
    // Opened and closed only when it is new: closing a file that SQLite has open would drop its locks.
    if SystemFile.kind(index) == .nothing {
      let descriptor = SystemFile.openPrivate(index, O_EXCL)
      guard descriptor >= 0 else { throw .noFolder }
      close(descriptor)
    }
    for name in indexFiles { chmod(name, 0o600) }
  }

  /// Removes the index and all bodies. Under the lock of the salt's file.
  /// - Returns: False where another process has the store open, or where the disk does not let us.
  func empty() -> Bool {
    // A child process of ours that is about to begin holds for a moment what we have let go.
    guard fault == nil, let alone = FileLock.alone(lock, waiting: 100) else { return false }
    return withExtendedLifetime(alone) {
      // The index first: a log without an index is thrown away, an index without its log would be an older one.
      for name in indexFiles { unlink(name) }
      for name in SystemFile.names(bodies) { unlink(bodies + "/" + name) }
      guard indexFiles.allSatisfy({ SystemFile.kind($0) == .nothing }) else { return false }
      journal.empty()
      return true
    }
  }

  private func setAside(_ name: String) {
    rename(name, "\(name).aside-\(String(Digest.random().words.0, radix: 16))")
  }

  private func keepFromBackup() {
    #if canImport(Darwin)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      var url = URL(filePath: path)
      try? url.setResourceValues(values)
      try? FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: path)
    #endif
  }
}
