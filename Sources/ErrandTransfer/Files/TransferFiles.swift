import Dispatch
import ErrandSupport
package import Foundation

/// The file system operations that transfers need. There is one method for each system call, so that tests can make
/// each system call fail.
///
/// Open files are identified by their descriptors. Every method repeats interrupted calls. A method that cannot write
/// all bytes throws an error.
package protocol TransferFiles: Sendable {
  /// Opens a file; child processes do not inherit the descriptor.
  func open(_ path: String, _ opening: FileOpening) throws(FileFailure) -> Int32
  /// Closes a descriptor. The descriptor is closed even if this method throws.
  func close(_ file: Int32) throws(FileFailure)
  /// Reads bytes at an offset. Returns the number of bytes. It is smaller than the size of `memory` only at the end of
  /// the file, and 0 after the end.
  func read(_ file: Int32, into memory: UnsafeMutableRawBufferPointer, at place: Int64) throws(FileFailure) -> Int
  /// Writes all bytes at an offset. After an error any part of the bytes may have been written.
  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at place: Int64) throws(FileFailure)
  /// Shortens or lengthens a file.
  func truncate(_ file: Int32, to length: Int64) throws(FileFailure)
  /// Synchronizes the contents and the length of a file to disk. Returns when both are on the disk.
  func synchronize(_ file: Int32) throws(FileFailure)
  /// Synchronizes the entries of a folder to disk, so that a rename survives a crash.
  func synchronizeFolder(_ path: String) throws(FileFailure)
  /// The properties of an open file.
  func status(of file: Int32) throws(FileFailure) -> FileStatus
  /// The properties of the file at a path, without following a link; nil if there is no file.
  func status(at path: String) throws(FileFailure) -> FileStatus?
  /// Sets the permissions of an open file, as `chmod` does.
  func setPermissions(of file: Int32, to mode: UInt16) throws(FileFailure)
  /// Reserves disk space for this number of bytes in total, without changing the length of the file. Returns false if
  /// the file system does not support reservations.
  func reserve(_ file: Int32, length: Int64) throws(FileFailure) -> Bool
  /// The number of bytes that this user may still write to the file system of a folder.
  func freeSpace(in folder: String) throws(FileFailure) -> Int64
  /// Locks a file exclusively until the descriptor is closed; throws ``FileFailure/Kind/busy`` if another descriptor
  /// holds the lock.
  func lock(_ file: Int32) throws(FileFailure)
  /// Renames a file, and replaces any file that has the new name.
  func rename(_ path: String, to other: String) throws(FileFailure)
  /// Renames a file; throws ``FileFailure/Kind/exists`` if the new name is in use.
  func renameExclusively(_ path: String, to other: String) throws(FileFailure)
  /// Removes the file name at a path, as `unlink` does.
  func remove(_ path: String) throws(FileFailure)
  /// The names of all files in a folder, in no particular order.
  func names(in folder: String) throws(FileFailure) -> [String]
}

extension TransferFiles {
  /// Replaces a file, or creates it, so that after a crash the path has either the old or the new file. Only the user
  /// can access the new file. The caller synchronizes the folder afterwards.
  /// - Parameter draft: The path in the same folder at which the new file is written, before it is synchronized and
  ///   renamed. An older file at this path is removed.
  package func replace(_ path: String, with bytes: Data, by draft: String) throws {
    if try status(at: draft) != nil { try remove(draft) }
    let file = try open(draft, .new)
    do {
      defer { try? close(file) }
      try bytes.withUnsafeBytes { try write(file, $0, at: 0) }
      try synchronize(file)
      try rename(draft, to: path)
    } catch {
      try? remove(draft)
      throw error
    }
  }
}

/// The ways to open a file. A path that is a link is never followed.
package enum FileOpening: Sendable, Hashable {
  /// Creates a file for reading and writing, accessible only to the user (mode 0600); fails if the name is in use.
  case new
  /// Opens an existing file for reading and writing.
  case existing
  /// Opens an existing file for reading.
  case reading
}

/// The properties of a file, as the file system reports them.
package struct FileStatus: Sendable, Hashable {
  package enum Kind: Sendable, Hashable { case file, folder, link, other }

  package var kind: Kind
  package var length: Int64
  package var links: Int
  /// Whether the file belongs to the user of this process.
  package var isOwn: Bool
  /// The device and the inode number. They distinguish the file from another file that has taken its name.
  package var identity: FileIdentity
  /// The time of the last change of the file's contents.
  package var modified: FileTime

  package init(
    kind: Kind, length: Int64, links: Int, isOwn: Bool, identity: FileIdentity, modified: FileTime = FileTime()
  ) {
    self.kind = kind
    self.length = length
    self.links = links
    self.isOwn = isOwn
    self.identity = identity
    self.modified = modified
  }
}

/// The device and the inode number of a file: no other file has the same pair at the same time.
package struct FileIdentity: Sendable, Hashable {
  package let device: UInt64
  package let number: UInt64

  package init(device: UInt64, number: UInt64) {
    self.device = device
    self.number = number
  }
}

/// A time since 1970, in the precision of the file system.
package struct FileTime: Sendable, Hashable, Codable {
  package let seconds: Int64
  package let nanoseconds: Int64

  package init(seconds: Int64 = 0, nanoseconds: Int64 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}

/// A serial queue for blocking disk work, for example that of one download. It keeps blocking file operations away from
/// the threads of callers and of the transport.
package final class DiskQueue: Sendable {
  private let queue = DispatchQueue(label: "errand.transfer", qos: .userInitiated)

  package init() {}

  /// Appends a job to the queue, and does not wait for it.
  package func run(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

  /// Appends a job to the queue, and blocks the thread until the job is done. A job of the same queue must not call
  /// this method, because it would deadlock.
  package func now(_ job: () -> Void) { queue.sync(execute: job) }

  /// Appends a job to the queue, and suspends the task until the job is done. Cancelling the task does not end the
  /// wait, so that a disk operation is never abandoned halfway.
  package func value<Value: Sendable>(_ job: @escaping @Sendable () throws -> Value) async throws -> Value {
    // The continuation orders the job before the rest of the task. The thread sanitizer cannot see that, but it sees
    // the lock.
    let isDone = Locked(false)
    defer { isDone.withLock { _ in } }
    return try await withUnsafeThrowingContinuation { continuation in
      queue.async {
        let result = Result(catching: job)
        isDone.withLock { $0 = true }
        continuation.resume(with: result)
      }
    }
  }
}
