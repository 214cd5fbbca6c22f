/// The file system as transfers use it: one method a system call, so that tests can fail each of them in turn.
///
/// Files are known by their descriptors. No method gives up on an interrupted call, and none writes less than it was
/// given without an error.
package protocol TransferFiles: Sendable {
  /// Opens a file; the descriptor does not pass to programs that this process starts.
  func open(_ path: String, _ opening: FileOpening) throws(FileFailure) -> Int32
  /// Closes a descriptor; it is gone even where this throws.
  func close(_ file: Int32) throws(FileFailure)
  /// Reads at a place; fewer bytes than there is room for only at the end of the file, none behind it.
  func read(_ file: Int32, into memory: UnsafeMutableRawBufferPointer, at place: Int64) throws(FileFailure) -> Int
  /// Writes all of it at a place. After an error any part of it may have been written.
  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at place: Int64) throws(FileFailure)
  /// Cuts or lengthens a file.
  func truncate(_ file: Int32, to length: Int64) throws(FileFailure)
  /// Brings bytes and length to the disk, and returns when they are there.
  func synchronize(_ file: Int32) throws(FileFailure)
  /// Brings the names in a folder to the disk.
  func synchronizeFolder(_ path: String) throws(FileFailure)
  /// What an open file is.
  func status(of file: Int32) throws(FileFailure) -> FileStatus
  /// What lies under a name, a link itself and not where it leads; nil for nothing.
  func status(at path: String) throws(FileFailure) -> FileStatus?
  /// Sets who may read and write, as `chmod` does.
  func setPermissions(of file: Int32, to mode: UInt16) throws(FileFailure)
  /// Sets room aside for so many bytes in all; the length stays. False where the file system cannot do so.
  func reserve(_ file: Int32, length: Int64) throws(FileFailure) -> Bool
  /// The bytes that this user may still write in the file system of a folder.
  func freeSpace(in folder: String) throws(FileFailure) -> Int64
  /// Locks a file for this descriptor alone, until it is closed; ``FileFailure/Kind/busy`` where another one has it.
  func lock(_ file: Int32) throws(FileFailure)
  /// Gives a file another name, in the place of whatever has it.
  func rename(_ path: String, to other: String) throws(FileFailure)
  /// Gives a file another name; ``FileFailure/Kind/exists`` where that is taken.
  func renameExclusively(_ path: String, to other: String) throws(FileFailure)
  /// Takes a name away.
  func remove(_ path: String) throws(FileFailure)
  /// The names in a folder, in no order.
  func names(in folder: String) throws(FileFailure) -> [String]
}

/// How a file is opened. A link that lies in its place is never followed.
package enum FileOpening: Sendable, Hashable {
  /// A new one for reading and writing, of the user alone (mode 0600); an error where the name is taken.
  case new
  /// One that is there, for reading and writing.
  case existing
  /// One that is there, for reading.
  case reading
}
