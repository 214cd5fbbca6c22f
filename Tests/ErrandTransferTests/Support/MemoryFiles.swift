import ErrandSupport
import ErrandTesting
import Foundation

@testable import ErrandTransfer

/// The file system on a ``MemoryDisk``.
final class MemoryFiles: TransferFiles {
  private let disk = Locked(MemoryDisk())

  func crash(_ loss: MemoryDisk.Loss, seed: UInt64) {
    disk.withLock { disk in
      var random = SeededNumbers(seed: seed)
      disk.crash(loss, using: &random)
    }
  }

  /// The bytes of a file as programs see them.
  func bytes(_ name: String) -> [UInt8]? {
    disk.withLock { disk in disk.names[name].flatMap { disk.files[$0]?.bytes } }
  }

  /// Adds a file that is already on the disk.
  func put(_ bytes: [UInt8], _ name: String) {
    disk.withLock { disk in
      let file = disk.make(name)
      disk.change(file, .write(0, bytes))
      disk.synchronize(file)
      disk.synchronizeNames()
    }
  }

  var names: [String] { disk.withLock { $0.names.keys.sorted() } }

  private func with<Result: Sendable>(
    _ operation: FileFailure.Operation, _ handle: Int32, _ body: (inout MemoryDisk, Int) -> Result
  ) throws(FileFailure) -> Result {
    try disk.withLock { disk throws(FileFailure) in
      guard let file = disk.handles[handle] else { throw FileFailure(operation, code: EBADF) }
      return body(&disk, file)
    }
  }

  func open(_ path: String, _ opening: FileOpening) throws(FileFailure) -> Int32 {
    try disk.withLock { disk throws(FileFailure) in
      if opening == .new {
        guard disk.names[path] == nil else { throw FileFailure(.open, path, code: EEXIST) }
        return disk.handle(disk.make(path))
      }
      guard let file = disk.names[path] else { throw FileFailure(.open, path, code: ENOENT) }
      return disk.handle(file)
    }
  }

  func close(_ file: Int32) throws(FileFailure) {
    try with(.close, file) { disk, number in
      if disk.files[number]?.holder == file { disk.files[number]?.holder = nil }
      disk.handles[file] = nil
    }
  }

  func read(_ file: Int32, into memory: UnsafeMutableRawBufferPointer, at place: Int64) throws(FileFailure) -> Int {
    let bytes = try with(.read, file) { disk, number in
      Array((disk.files[number]?.bytes ?? []).dropFirst(Int(place)).prefix(memory.count))
    }
    memory.copyBytes(from: bytes)
    return bytes.count
  }

  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at place: Int64) throws(FileFailure) {
    let new = Array(bytes)
    try with(.write, file) { disk, number in disk.change(number, .write(Int(place), new)) }
  }

  func truncate(_ file: Int32, to length: Int64) throws(FileFailure) {
    try with(.truncate, file) { disk, number in disk.change(number, .cut(Int(length))) }
  }

  func synchronize(_ file: Int32) throws(FileFailure) {
    try with(.synchronize, file) { disk, number in disk.synchronize(number) }
  }

  func synchronizeFolder(_ path: String) throws(FileFailure) {
    disk.withLock { $0.synchronizeNames() }
  }

  func status(of file: Int32) throws(FileFailure) -> FileStatus {
    try with(.status, file) { disk, number in Self.status(disk, number) }
  }

  func status(at path: String) throws(FileFailure) -> FileStatus? {
    disk.withLock { disk in disk.names[path].map { Self.status(disk, $0) } }
  }

  func setPermissions(of file: Int32, to mode: UInt16) throws(FileFailure) {}
  func reserve(_ file: Int32, length: Int64) throws(FileFailure) -> Bool { true }
  func freeSpace(in folder: String) throws(FileFailure) -> Int64 { .max }

  func lock(_ file: Int32) throws(FileFailure) {
    let isFree = try with(.lock, file) { disk, number in
      guard disk.files[number]?.holder == nil else { return false }
      disk.files[number]?.holder = file
      return true
    }
    if !isFree { throw FileFailure(.lock, code: EWOULDBLOCK) }
  }

  func rename(_ path: String, to other: String) throws(FileFailure) {
    try disk.withLock { disk throws(FileFailure) in
      guard let file = disk.names[path] else { throw FileFailure(.rename, path, code: ENOENT) }
      // The journal contains one change, so that a crash leaves either name, but not both.
      disk.names[path] = nil
      disk.names[other] = file
      disk.log.append(.rename(path, other, file))
    }
  }

  func renameExclusively(_ path: String, to other: String) throws(FileFailure) {
    if bytes(other) != nil { throw FileFailure(.rename, path, code: EEXIST) }
    try rename(path, to: other)
  }

  func remove(_ path: String) throws(FileFailure) {
    try disk.withLock { disk throws(FileFailure) in
      guard disk.names[path] != nil else { throw FileFailure(.remove, path, code: ENOENT) }
      disk.remove(path)
    }
  }

  func names(in folder: String) throws(FileFailure) -> [String] { names }

  private static func status(_ disk: MemoryDisk, _ file: Int) -> FileStatus {
    FileStatus(
      kind: .file, length: Int64(disk.files[file]?.bytes.count ?? 0),
      links: disk.names.values.filter { $0 == file }.count, isOwn: true,
      identity: FileIdentity(device: 1, number: UInt64(file)))
  }
}
