import ErrandCache
import ErrandSupport
package import Foundation

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
