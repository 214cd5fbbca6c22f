import ErrandSupport

@testable import ErrandTransfer

/// A file system in which one call fails, or in which all calls fail from some call on.
final class FaultyFiles: TransferFiles {
  enum Fault: Sendable, Hashable {
    /// The call fails without any effect.
    case before(Int32)
    /// The call fails after its full effect.
    case after(Int32)
    /// A write fails after half of its bytes.
    case torn(Int32)
    /// The process dies at this call: all later calls fail without any effect.
    case death
  }

  private struct State {
    var calls = 0
    var names: [String] = []
    var open: Set<Int32> = []
    var isDead = false
    var next: (operation: FileFailure.Operation, fault: Fault)?
  }

  private let base: any TransferFiles
  private let turn: Int
  private let room: Int64?
  private let fault: Fault
  private let state = Locked(State())

  /// - Parameter turn: The number of the call that fails, starting at 1; 0 for none.
  /// - Parameter room: The free bytes of a file system that cannot reserve space; nil to use the base.
  init(
    _ base: any TransferFiles = SystemFiles(), failing turn: Int = 0, _ fault: Fault = .before(5), room: Int64? = nil
  ) {
    self.base = base
    self.room = room
    self.turn = turn
    self.fault = fault
  }

  /// Makes the next call of an operation fail, in addition.
  func failNext(_ operation: FileFailure.Operation, _ fault: Fault) { state.withLock { $0.next = (operation, fault) } }

  var calls: Int { state.withLock { $0.calls } }
  var callNames: [String] { state.withLock { $0.names } }
  /// The descriptors that are still open.
  var openFiles: Set<Int32> { state.withLock { $0.open } }

  /// Counts a call and decides whether it fails.
  private func fate(_ operation: FileFailure.Operation) -> Fault? {
    let (turn, fault) = (turn, fault)
    return state.withLock { state in
      state.calls += 1
      state.names.append(operation.rawValue)
      if state.isDead { return .death }
      var fate: Fault? = state.calls == turn ? fault : nil
      if let next = state.next, next.operation == operation {
        fate = next.fault
        state.next = nil
      }
      if fate == .death { state.isDead = true }
      return fate
    }
  }

  private func call<Result>(
    _ operation: FileFailure.Operation, half: () throws(FileFailure) -> Void = {},
    _ body: () throws(FileFailure) -> Result
  ) throws(FileFailure) -> Result {
    switch fate(operation) {
    case nil: return try body()
    case .before(let code): throw FileFailure(operation, code: code)
    case .after(let code):
      _ = try body()
      throw FileFailure(operation, code: code)
    case .torn(let code):
      try half()
      throw FileFailure(operation, code: code)
    case .death: throw FileFailure(operation, "dead", code: 5)
    }
  }

  func open(_ path: String, _ opening: FileOpening) throws(FileFailure) -> Int32 {
    let file = try call(.open) { () throws(FileFailure) in try base.open(path, opening) }
    state.withLock { _ = $0.open.insert(file) }
    return file
  }

  func close(_ file: Int32) throws(FileFailure) {
    state.withLock { _ = $0.open.remove(file) }
    // A descriptor is closed whatever `close` returns.
    var result: FileFailure?
    do { try base.close(file) } catch { result = error }
    try call(.close) { () throws(FileFailure) in if let result { throw result } }
  }

  func read(
    _ file: Int32, into memory: UnsafeMutableRawBufferPointer, at place: Int64
  ) throws(FileFailure) -> Int {
    try call(.read) { () throws(FileFailure) in try base.read(file, into: memory, at: place) }
  }

  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at place: Int64) throws(FileFailure) {
    let half = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)])
    try call(.write, half: { () throws(FileFailure) in try base.write(file, half, at: place) }) {
      () throws(FileFailure) in try base.write(file, bytes, at: place)
    }
  }

  func truncate(_ file: Int32, to length: Int64) throws(FileFailure) {
    try call(.truncate) { () throws(FileFailure) in try base.truncate(file, to: length) }
  }

  func synchronize(_ file: Int32) throws(FileFailure) {
    try call(.synchronize) { () throws(FileFailure) in try base.synchronize(file) }
  }

  func synchronizeFolder(_ path: String) throws(FileFailure) {
    try call(.synchronize) { () throws(FileFailure) in try base.synchronizeFolder(path) }
  }

  func status(of file: Int32) throws(FileFailure) -> FileStatus {
    try call(.status) { () throws(FileFailure) in try base.status(of: file) }
  }

  func status(at path: String) throws(FileFailure) -> FileStatus? {
    try call(.status) { () throws(FileFailure) in try base.status(at: path) }
  }

  func setPermissions(of file: Int32, to mode: UInt16) throws(FileFailure) {
    try call(.permissions) { () throws(FileFailure) in try base.setPermissions(of: file, to: mode) }
  }

  func reserve(_ file: Int32, length: Int64) throws(FileFailure) -> Bool {
    try call(.reserve) { () throws(FileFailure) in room != nil ? false : try base.reserve(file, length: length) }
  }

  func freeSpace(in folder: String) throws(FileFailure) -> Int64 {
    try call(.space) { () throws(FileFailure) -> Int64 in
      if let room { return room }
      return try base.freeSpace(in: folder)
    }
  }

  func lock(_ file: Int32) throws(FileFailure) {
    try call(.lock) { () throws(FileFailure) in try base.lock(file) }
  }

  func rename(_ path: String, to other: String) throws(FileFailure) {
    try call(.rename) { () throws(FileFailure) in try base.rename(path, to: other) }
  }

  func renameExclusively(_ path: String, to other: String) throws(FileFailure) {
    try call(.rename) { () throws(FileFailure) in try base.renameExclusively(path, to: other) }
  }

  func remove(_ path: String) throws(FileFailure) {
    try call(.remove) { () throws(FileFailure) in try base.remove(path) }
  }

  func names(in folder: String) throws(FileFailure) -> [String] {
    try call(.list) { () throws(FileFailure) in try base.names(in: folder) }
  }
}
