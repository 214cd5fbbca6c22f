import ErrandSupport
import ErrandTransfer

/// The real file system with a hook before each call. The hook may replace the call by an error.
final class HookedFiles: TransferFiles {
  typealias Operation = FileFailure.Operation

  private struct State {
    var calls: [Operation] = []
    var open: Set<Int32> = []
  }

  private let base = SystemFiles()
  private let hook: @Sendable (_ turn: Int, Operation, _ bytes: Int) -> Int32?
  private let state = Locked(State())

  /// - Parameter hook: Receives the number of the call, from 1, the operation, and the number of bytes that it writes.
  ///   Returns the error code that replaces the call, or nil.
  init(_ hook: @escaping @Sendable (_ turn: Int, Operation, _ bytes: Int) -> Int32?) { self.hook = hook }

  /// Fails the call with one number.
  convenience init(failing turn: Int, _ code: Int32) { self.init { number, _, _ in number == turn ? code : nil } }

  /// The calls so far.
  var calls: [Operation] { state.withLock { $0.calls } }
  /// The number of open files.
  var openCount: Int { state.withLock { $0.open.count } }

  private func pass(_ operation: Operation, bytes: Int = 0) throws(FileFailure) {
    let turn = state.withLock { state in
      state.calls.append(operation)
      return state.calls.count
    }
    if let code = hook(turn, operation, bytes) { throw FileFailure(operation, code: code) }
  }

  func open(_ path: String, _ opening: FileOpening) throws(FileFailure) -> Int32 {
    try pass(.open)
    let file = try base.open(path, opening)
    state.withLock { _ = $0.open.insert(file) }
    return file
  }

  func close(_ file: Int32) throws(FileFailure) {
    // Removed before the file is closed, because another thread may get the same descriptor immediately.
    state.withLock { _ = $0.open.remove(file) }
    try base.close(file)
    try pass(.close)
  }

  func read(
    _ file: Int32, into memory: UnsafeMutableRawBufferPointer, at place: Int64
  ) throws(FileFailure) -> Int {
    try pass(.read)
    return try base.read(file, into: memory, at: place)
  }

  /// A failing write writes half of its bytes.
  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at place: Int64) throws(FileFailure) {
    do {
      try pass(.write, bytes: bytes.count)
    } catch {
      try base.write(file, UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), at: place)
      throw error
    }
    try base.write(file, bytes, at: place)
  }

  func truncate(_ file: Int32, to length: Int64) throws(FileFailure) {
    try pass(.truncate)
    try base.truncate(file, to: length)
  }

  func synchronize(_ file: Int32) throws(FileFailure) {
    try pass(.synchronize)
    try base.synchronize(file)
  }

  func synchronizeFolder(_ path: String) throws(FileFailure) {
    try pass(.synchronize)
    try base.synchronizeFolder(path)
  }

  func status(of file: Int32) throws(FileFailure) -> FileStatus {
    try pass(.status)
    return try base.status(of: file)
  }

  func status(at path: String) throws(FileFailure) -> FileStatus? {
    try pass(.status)
    return try base.status(at: path)
  }

  func setPermissions(of file: Int32, to mode: UInt16) throws(FileFailure) {
    try pass(.permissions)
    try base.setPermissions(of: file, to: mode)
  }

  func reserve(_ file: Int32, length: Int64) throws(FileFailure) -> Bool {
    try pass(.reserve)
    return try base.reserve(file, length: length)
  }

  func freeSpace(in folder: String) throws(FileFailure) -> Int64 {
    try pass(.space)
    return try base.freeSpace(in: folder)
  }

  func lock(_ file: Int32) throws(FileFailure) {
    try pass(.lock)
    try base.lock(file)
  }

  func rename(_ path: String, to other: String) throws(FileFailure) {
    try pass(.rename)
    try base.rename(path, to: other)
  }

  func renameExclusively(_ path: String, to other: String) throws(FileFailure) {
    try pass(.rename)
    try base.renameExclusively(path, to: other)
  }

  func remove(_ path: String) throws(FileFailure) {
    try pass(.remove)
    try base.remove(path)
  }

  func names(in folder: String) throws(FileFailure) -> [String] {
    try pass(.list)
    return try base.names(in: folder)
  }
}
