import ErrandSupport
import Foundation

/// The folder of a ``SQLiteStore``: the files in it, and how the folder is created, locked and emptied.
///
/// | name | content |
/// |---|---|
/// | `errand-cache.sqlite`, `-wal`, `-shm` | heads and small bodies |
/// | `errand-cache.bodies/` | one file with a random name for each large body |
/// | `errand-cache.salt` | the salt (32 random bytes) and its checksum; locked while a store is opened or emptied |
/// | `errand-cache.owed-…` | removals that could not be applied yet: see ``RemovalJournal`` |
/// | `errand-cache.lock` | empty; every process with an open store holds its shared lock, so that no process empties
/// the folder |
struct StoreFolder: Sendable {
  let path: String
  let index: String
  let bodies: String
  let salt: String
  let lock: String
  /// The removals that must be applied before entries are read.
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

  /// The length of the write-ahead log of the index, in bytes.
  var logLength: Int { SystemFile.length(index + "-wal") }

  /// Synchronises the write-ahead log of the index, and so all transactions, with the disk. Returns false if this
  /// failed.
  ///
  /// Closing a file releases all locks that the process holds on the file. SQLite holds no lock on the log file, so
  /// this method may open and close it.
  func synchronizeLog() -> Bool { SystemFile.synchronize(file: index + "-wal") }

  /// The size of all files except the files of bodies, in bytes.
  var indexLength: Int { (indexFiles + [salt, lock]).reduce(0) { $0 + SystemFile.length($1) } }

  /// The reason why the folder must not be used. Nil if the folder may be used or does not exist.
  var fault: FolderFault? { PrivateFolder.fault(path) }

  /// Creates the folder, and everything in it that must exist before the index is opened. If an item has the name of a
  /// store file but is of another kind or belongs to another user, the item is renamed. A folder that is not private to
  /// the user is rejected and not changed.
  func prepare() throws(SQLiteFailure) {
    // Nothing is created below a folder in which other users could replace it.
    guard PrivateFolder.parentFault(path) == nil else { throw .notPrivate }
    guard SystemFile.makeFolder(path) else { throw .noFolder }
    guard PrivateFolder.makePrivate(path) == nil else { throw .notPrivate }
    for name in indexFiles + [salt, lock] where ![.nothing, .file].contains(SystemFile.kind(name)) { setAside(name) }
    if ![.nothing, .folder].contains(SystemFile.kind(bodies)) { setAside(bodies) }
    for name in indexFiles + [salt, lock, bodies] where SystemFile.isForeign(name) { setAside(name) }
    guard SystemFile.makeFolder(bodies) else { throw .noFolder }
    guard PrivateFolder.makePrivate(bodies) == nil else { throw .notPrivate }
    SystemFile.keepFromBackup(path)
  }

  /// Creates an empty index file if the folder has none. The caller must hold the lock of the salt file.
  func makeIndex() throws(SQLiteFailure) {
    // Only a new file is opened and closed: closing a file that SQLite has open would release SQLite's locks.
    if SystemFile.kind(index) == .nothing {
      let descriptor = SystemFile.openPrivate(index, O_EXCL)
      guard descriptor >= 0 else { throw .noFolder }
      close(descriptor)
    }
    for name in indexFiles { chmod(name, 0o600) }
  }

  /// Removes the index and all bodies. The caller must hold the lock of the salt file.
  /// - Returns: False if another process has the store open, or if the disk rejects the removal.
  func empty() -> Bool {
    // Wait a little: a child process that is just starting may briefly keep a lock that this process has released.
    guard fault == nil, let alone = FileLock.alone(lock, waiting: 100) else { return false }
    return withExtendedLifetime(alone) {
      // Remove the index file before its log. SQLite ignores a log without an index, but an index without its log has
      // lost its latest changes.
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
}

extension SystemFile {
  /// Excludes a folder from backups, and lets its files be read as soon as the user has unlocked the device once. Has
  /// an effect only on Apple platforms.
  package static func keepFromBackup(_ path: String) {
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

/// The salt in a store's folder: 32 random bytes that are part of every digest, and their checksum.
struct StoreSalt {
  private static let length = 40

  enum Origin {
    /// The salt was read from the folder.
    case stored
    /// The salt was just created in the folder.
    case new
    /// The salt of the folder could not be read or created. This process uses a random salt instead.
    case temporary
  }

  let digest: Digest
  let origin: Origin

  /// Whether the salt was just created, so that no entry can have been stored with it.
  var isNew: Bool { origin != .stored }

  /// A number by which an index identifies the salt with which its entries were stored.
  var mark: Int64 { CanonicalForm("salt", salt: digest.bytes).digest.index }

  /// Reads the salt from its locked file. Creates a new salt if the file is empty or damaged. Nil if the file cannot be
  /// read or written.
  static func load(_ file: FileLock) -> StoreSalt? {
    let bytes = SystemFile.read(file.descriptor, count: length)
    if let digest = bytes.flatMap(decode) { return StoreSalt(digest: digest, origin: .stored) }
    // A file that cannot be read now may be intact. Do not replace its salt, because with a new salt no stored entry
    // could be found any more.
    guard bytes != nil || SystemFile.length(file.descriptor) < length else { return nil }
    let salt = StoreSalt(digest: .random(), origin: .new)
    return salt.write(file) ? salt : nil
  }

  /// Writes the salt to its file. Returns false if the disk rejects the write.
  func write(_ file: FileLock) -> Bool {
    var writer = ByteWriter()
    writer.digest(digest)
    writer.fixed(writer.bytes.withUnsafeBytes { Checksum64.of($0) })
    return writer.bytes.withUnsafeBytes { SystemFile.write(file.descriptor, $0) }
  }

  private static func decode(_ bytes: Data) -> Digest? {
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      guard let salt = try? reader.digest(), let sum = try? reader.fixed() else { return nil }
      return Checksum64.of(UnsafeRawBufferPointer(rebasing: bytes.prefix(32))) == sum ? salt : nil
    }
  }
}
