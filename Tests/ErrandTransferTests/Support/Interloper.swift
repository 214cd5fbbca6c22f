import ErrandSupport

@testable import ErrandTransfer

/// The real file system with an action right before a call of one operation: the first time, or each time.
final class Interloper: TransferFiles {
  private let base = SystemFiles()
  private let operation: FileFailure.Operation
  private let isAlways: Bool
  private let action: @Sendable () -> Void
  private let isDone = Locked(false)

  init(at operation: FileFailure.Operation = .lock, always: Bool = false, _ action: @escaping @Sendable () -> Void) {
    self.operation = operation
    isAlways = always
    self.action = action
  }

  private func before(_ operation: FileFailure.Operation) {
    guard operation == self.operation else { return }
    let isTurn = isDone.withLock { isDone in
      defer { isDone = true }
      return !isDone
    }
    if isTurn || isAlways { action() }
  }

  func open(_ path: String, _ opening: FileOpening) throws(FileFailure) -> Int32 { try base.open(path, opening) }
  func close(_ file: Int32) throws(FileFailure) { try base.close(file) }

  func read(_ file: Int32, into memory: UnsafeMutableRawBufferPointer, at place: Int64) throws(FileFailure) -> Int {
    try base.read(file, into: memory, at: place)
  }

  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at place: Int64) throws(FileFailure) {
    before(.write)
    try base.write(file, bytes, at: place)
  }

  func truncate(_ file: Int32, to length: Int64) throws(FileFailure) { try base.truncate(file, to: length) }

  func synchronize(_ file: Int32) throws(FileFailure) {
    before(.synchronize)
    try base.synchronize(file)
  }

  func synchronizeFolder(_ path: String) throws(FileFailure) { try base.synchronizeFolder(path) }
  func status(of file: Int32) throws(FileFailure) -> FileStatus { try base.status(of: file) }
  func status(at path: String) throws(FileFailure) -> FileStatus? { try base.status(at: path) }

  func setPermissions(of file: Int32, to mode: UInt16) throws(FileFailure) {
    try base.setPermissions(of: file, to: mode)
  }

  func reserve(_ file: Int32, length: Int64) throws(FileFailure) -> Bool { try base.reserve(file, length: length) }
  func freeSpace(in folder: String) throws(FileFailure) -> Int64 { try base.freeSpace(in: folder) }

  func lock(_ file: Int32) throws(FileFailure) {
    before(.lock)
    try base.lock(file)
  }

  func rename(_ path: String, to other: String) throws(FileFailure) { try base.rename(path, to: other) }

  func renameExclusively(_ path: String, to other: String) throws(FileFailure) {
    try base.renameExclusively(path, to: other)
  }

  func remove(_ path: String) throws(FileFailure) { try base.remove(path) }
  func names(in folder: String) throws(FileFailure) -> [String] { try base.names(in: folder) }
}
