import ErrandCache
import ErrandSupport
package import Foundation

#if os(Linux)
  import CErrandFiles
#endif

/// The folder of an ``Outbox``: the names of its files, and how the folder is created.
///
/// | name | content |
/// |---|---|
/// | `errand-outbox.sqlite`, `-wal`, `-shm` | the entries: see ``OutboxStore`` |
/// | `errand-outbox.open` | empty; locked while a process opens the database |
/// | `errand-outbox.lease` | empty; the process that holds its exclusive lock sends the entries |
/// | `errand-outbox.files` | a folder for the files that belong to requests: see ``AttachedFiles`` |
package struct OutboxFolder: Sendable {
  package let path: String
  let database: String
  let opening: String
  let lease: String
  let files: AttachedFiles

  package init(_ url: URL) {
    path = url.path(percentEncoded: false)
    let name = path + (path.hasSuffix("/") ? "" : "/") + "errand-outbox."
    database = name + "sqlite"
    opening = name + "open"
    lease = name + "lease"
    files = AttachedFiles(folder: name + "files")
  }

  package var exists: Bool { SystemFile.kind(database) == .file }

  /// Creates the folder, if it does not exist. A folder that is not private to the user is rejected and not changed.
  func prepare() throws(OutboxError) {
    if let fault = PrivateFolder.parentFault(path) { throw OutboxError(.folder, fault.sentence(path)) }
    guard SystemFile.makeFolder(path) else {
      throw OutboxError(
        .folder, "The folder “\(path)” cannot be created; choose another place, or check the permissions and the disk.")
    }
    if let fault = PrivateFolder.makePrivate(path) { throw OutboxError(.folder, fault.sentence(path)) }
    SystemFile.keepFromBackup(path)
  }

  /// Creates an empty database file, if it does not exist. The caller holds the lock of ``opening``.
  func createDatabase() throws(OutboxError) {
    guard SystemFile.kind(database) == .nothing else { return }
    let descriptor = SystemFile.openPrivate(database, O_EXCL)
    guard descriptor >= 0, close(descriptor) == 0, SystemFile.synchronize(folder: path) else {
      throw OutboxError(.folder, "No file can be created in “\(path)”; check its permissions and the disk.")
    }
  }
}

/// The files that belong to the requests of an outbox, each under a random name in one folder.
///
/// A file of the app becomes a clone that shares its blocks (`FICLONE` on Linux, the file manager on APFS), where the
/// file system has clones. Otherwise it becomes a hard link, which survives that the app replaces or removes the file.
/// If neither is possible, for example on another disk, the file is copied. A hard link does not protect against an app
/// that writes into the file. So the length and the time of the last change are stored, and a file that has changed is
/// not sent.
struct AttachedFiles: Sendable {
  let folder: String

  /// The facts by which a change of a file is noticed.
  struct Facts: Equatable {
    var length: Int64
    /// The time of the last change, in nanoseconds since 1970.
    var changed: Int64
  }

  /// How long a file without an entry is kept, in milliseconds: another process may be about to add its entry.
  static let orphanAge: Int64 = 86_400_000

  static func newName() -> String { UUID().uuidString.lowercased() }

  /// Whether a name has the form of the names that ``newName()`` makes. The check ensures that a damaged database
  /// cannot refer to a file outside the folder.
  static func isName(_ name: String) -> Bool {
    name.utf8.count == 36 && name.utf8.allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x61 < 6 || $0 == 0x2D }
  }

  func path(_ name: String) -> String { folder + "/" + name }

  /// Takes a file of the app into the folder, durably.
  func take(_ file: URL, as name: String) throws(OutboxError) {
    let source = file.resolvingSymlinksInPath().path(percentEncoded: false)
    guard SystemFile.kind(source) == .file else {
      throw OutboxError(.file, "“\(source)” is not a file; give the request a file that exists.")
    }
    // A link would be possible without the permission, but the file could not be sent.
    guard access(source, R_OK) == 0 else {
      throw OutboxError(.file, "“\(source)” cannot be read; check its permissions.")
    }
    guard SystemFile.makeFolder(folder) else {
      throw OutboxError(.disk, "The folder “\(folder)” cannot be created; check its permissions and the disk.")
    }
    let target = path(name)
    do {
      if !Self.clone(source, target), link(source, target) != 0 { try Self.copy(source, target) }
    } catch {
      unlink(target)
      let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
      let cure = isFull ? "free disk space and try again" : "check the permissions of its folder, and the disk"
      throw OutboxError(.disk, "“\(source)” cannot be copied to the outbox; \(cure).")
    }
    guard SystemFile.synchronize(file: target), SystemFile.synchronize(folder: folder) else {
      unlink(target)
      throw OutboxError(.disk, "The copy of “\(source)” cannot be stored durably; check the disk and try again.")
    }
  }

  /// The facts of a file in the folder; nil if it does not exist.
  func facts(_ name: String) -> Facts? {
    var status = stat()
    guard Self.isName(name), lstat(path(name), &status) == 0 else { return nil }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    return Facts(
      length: Int64(clamping: status.st_size),
      changed: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(clamping: time.tv_nsec))
  }

  func remove(_ names: some Sequence<String>) {
    for name in names where Self.isName(name) { unlink(path(name)) }
  }

  /// Removes files that no entry has and that were made long ago, for example by a process that ended before it had
  /// added the entry.
  func sweep(keeping wanted: Set<String>, at now: WallTime) {
    for name in SystemFile.names(folder) where !wanted.contains(name) {
      var status = stat()
      // The time of the last change of the name and the owner, because a hard link has the old time of its content.
      guard lstat(path(name), &status) == 0 else { continue }
      #if canImport(Darwin)
        let seconds = Int64(clamping: status.st_ctimespec.tv_sec)
      #else
        let seconds = Int64(clamping: status.st_ctim.tv_sec)
      #endif
      let made = WallTime(milliseconds: seconds.multipliedReportingOverflow(by: 1_000).partialValue)
      if made.milliseconds(to: now) > Self.orphanAge { unlink(path(name)) }
    }
  }

  /// Makes a clone that shares the blocks of the source. Returns false if the file system cannot.
  private static func clone(_ source: String, _ target: String) -> Bool {
    #if os(Linux)
      errand_clone(source, target) == 0
    #elseif canImport(Darwin)
      // The file manager clones files on APFS.
      (try? Self.copy(source, target)) != nil
    #else
      false
    #endif
  }

  private static func copy(_ source: String, _ target: String) throws {
    try FileManager.default.copyItem(atPath: source, toPath: target)
    guard chmod(target, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
