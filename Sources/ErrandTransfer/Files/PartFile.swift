import ErrandSupport
import Foundation

/// The partial file of one download: the file `<target>.part` with the bytes received so far. It is open, locked
/// against every other download of the target, and kept consistent with its record. The record never lists bytes that
/// are not on the disk, even after a crash.
///
/// One thread may write while another one commits. All other calls need exclusive use: a conflicting call throws
/// ``FileFailure/Kind/closed`` and does nothing. All calls may block on the disk.
///
/// After a failed write or synchronization the partial file accepts no more bytes. Every call throws that failure, the
/// file is cut to the bytes that are known to be on the disk, and the record stays as it is. To continue, ``close()``
/// the partial file and open it again. A write that fails because the disk is full is an exception: the bytes written
/// before may still be committed, after ``cutTorn()``.
package final class PartFile: Sendable {
  /// The names of the target and of its accompanying files.
  package let names: PartNames
  /// Why the partial file had no usable record when it was opened; nil if it had one.
  package let problem: PartRecordProblem?

  let files: any TransferFiles
  let identity: FileIdentity
  private let state: Locked<PartState>

  init(
    names: PartNames, files: any TransferFiles, identity: FileIdentity, file: Int32, record: PartRecord?,
    problem: PartRecordProblem?
  ) {
    var state = PartState(file: file)
    state.record = record
    state.written = record?.finished ?? ByteRanges()
    state.synced = state.written
    state.cursor = state.written.prefix
    self.names = names
    self.problem = problem
    self.files = files
    self.identity = identity
    self.state = Locked(state)
  }

  deinit { close() }

  /// The record on the disk; nil if none is written yet.
  package var record: PartRecord? { state.withLock { $0.record } }
  /// The ranges that were written, committed or not.
  package var written: ByteRanges { state.withLock { $0.written } }
  /// The ranges that survive any crash.
  package var committed: ByteRanges { state.withLock { $0.record?.finished ?? ByteRanges() } }
  /// The offset at which ``append(_:)`` writes next.
  package var position: Int64 { state.withLock { $0.cursor } }

  /// Writes the next bytes of a single stream. The stream starts after the bytes that the partial file had when it was
  /// opened.
  package func append(_ bytes: UnsafeRawBufferPointer) throws {
    try use(.beside, isFatal: false) { file in
      let place = state.withLock { $0.cursor }
      let end = try write(file, bytes, at: place)
      state.withLock {
        $0.written.insert(place..<end)
        $0.cursor = end
      }
    }
  }

  /// Writes bytes at an offset. For ranges that arrive in parallel.
  package func write(_ bytes: UnsafeRawBufferPointer, at place: Int64) throws {
    try use(.beside, isFatal: false) { file in
      let end = try write(file, bytes, at: place)
      state.withLock { $0.written.insert(place..<end) }
    }
  }

  private func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at place: Int64) throws(FileFailure) -> Int64 {
    let (end, overflow) = place.addingReportingOverflow(Int64(bytes.count))
    guard place >= 0, !overflow else {
      throw FileFailure(.write, names.part, .full, detail: "it would exceed the largest possible size of a file")
    }
    do {
      try files.write(file, bytes, at: place)
    } catch {
      if error.kind != .full { noteFailure(error) }
      throw error
    }
    return end
  }

  /// Synchronizes all bytes written so far to disk, and then writes a record of them.
  ///
  /// - Parameter record: The record to write; this call sets its finished ranges.
  /// - Returns: The record as written to disk.
  @discardableResult
  package func commit(_ record: PartRecord) throws -> PartRecord {
    try use(.commit) { file in
      let snapshot = state.withLock { $0.written }
      try files.synchronize(file)
      state.withLock { $0.synced = snapshot }
      var record = record
      record.finished = snapshot
      try save(record)
      return record
    }
  }

  /// Discards all bytes, because another version of the resource follows. An existing record is replaced first; if
  /// there is none, the first commit writes one.
  package func startOver(_ record: PartRecord) throws {
    try use(.alone) { file in
      let hasRecord = state.withLock { state in
        state.synced = ByteRanges()
        return state.record != nil
      }
      if hasRecord {
        var record = record
        record.finished = ByteRanges()
        try save(record)
      }
      try files.truncate(file, to: 0)
      state.withLock {
        $0.written = ByteRanges(); $0.cursor = 0
      }
    }
  }

  /// Cuts off the incomplete bytes of a write that failed because the disk was full.
  package func cutTorn() throws {
    try use(.alone) { file in try files.truncate(file, to: state.withLock { $0.written.end }) }
  }

  /// Discards the bytes written since the last commit.
  package func rollBack() throws {
    try use(.alone) { file in
      let synced = state.withLock { $0.synced }
      try files.truncate(file, to: synced.end)
      state.withLock {
        $0.written = synced; $0.cursor = synced.prefix
      }
    }
  }

  /// Reserves disk space for the whole file. Throws ``FileFailure/Kind/full`` if there is not enough space. The partial
  /// file stays usable after any failure of this call.
  package func reserve(_ total: Int64) throws {
    try use(.beside, isFatal: false) { file in
      if try files.reserve(file, length: total) { return }
      let free = try files.freeSpace(in: names.folder)
      let missing = total - min(max(state.withLock { $0.written.count }, 0), max(total, 0))
      if missing > free {
        let detail = "\(missing) more bytes are needed, but only \(free) are free"
        throw FileFailure(.reserve, names.part, .full, detail: detail)
      }
    }
  }

  /// Reads the bytes from an offset, for a checksum. Stops at the first gap.
  package func readKept(from start: Int64 = 0, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let end = state.withLock { $0.written.prefix }
    if start < end { try read(start..<end, body) }
  }

  /// Reads written bytes, for a checksum. Each piece has at most 1 MiB and is valid only during the call.
  package func read(_ range: Range<Int64>, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try use(.beside, isFatal: false) { file in
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
      defer { memory.deallocate() }
      var place = range.lowerBound
      while place < range.upperBound {
        let wanted = Int(min(Int64(memory.count), range.upperBound - place))
        let piece = UnsafeMutableRawBufferPointer(rebasing: memory[..<wanted])
        guard try files.read(file, into: piece, at: place) == wanted else {
          throw FileFailure(.read, names.part, .length, detail: "it is shorter than the bytes that were written to it")
        }
        try body(UnsafeRawBufferPointer(piece))
        place += Int64(wanted)
      }
    }
  }

  /// Closes the file and releases its lock. The partial file and its record stay on the disk. If a call uses the file,
  /// the file is closed at the end of that call.
  package func close() { perform(state.withLock { $0.close() }) }
}

extension PartFile {
  /// Runs a call that uses the file, and records its failure.
  func use<Result>(
    _ use: PartState.Use, isFatal: Bool = true, _ body: (Int32) throws -> Result
  ) throws -> Result {
    let file = try state.withLock { state throws(FileFailure) in try state.enter(use, names.part) }
    defer { perform(state.withLock { $0.leave(use) }) }
    do {
      return try body(file)
    } catch let failure as FileFailure {
      let named = failure.named(names.part)
      if isFatal { noteFailure(named) }
      throw named
    }
  }

  /// Records a failure after which nothing more is written.
  func noteFailure(_ failure: FileFailure) { state.withLock { $0.fail(failure.named(names.part)) } }

  /// Records that the partial file has been renamed to its target. From then on it is never cut. It is closed at the
  /// end of the call.
  func noteFinish() { state.withLock { $0.isFinished = true } }

  /// Performs a task that had to wait until no call uses the file. A failure is ignored: a partial file that is too
  /// long is cut when it is opened the next time.
  private func perform(_ chore: PartState.Chore?) {
    switch chore {
    case .cut(let file, let length):
      try? files.truncate(file, to: length)
      perform(state.withLock { $0.leave(.beside) })
    case .close(let file): try? files.close(file)
    case nil: break
    }
  }

  /// Writes the record next to the partial file: creates a new file, synchronizes it, renames it, and synchronizes the
  /// folder.
  func save(_ record: PartRecord) throws {
    let bytes = try record.encoded()
    guard bytes.count <= PartRecord.limit else {
      let detail = "the record would be longer than \(PartRecord.limit) bytes"
      throw FileFailure(.write, names.record, .other, detail: detail)
    }
    let file = try openTemporary()
    do {
      try bytes.withUnsafeBytes { try files.write(file, $0, at: 0) }
      try files.synchronize(file)
    } catch {
      try? files.close(file)
      try? files.remove(names.temporary)
      throw (error as? FileFailure)?.named(names.temporary) ?? error
    }
    try files.close(file)
    try files.rename(names.temporary, to: names.record)
    try files.synchronizeFolder(names.folder)
    state.withLock { $0.record = record }
  }

  /// Opens a new temporary file for a record. A crash may have left an old one, which is removed: this process holds
  /// the lock, so no other process uses it.
  private func openTemporary() throws(FileFailure) -> Int32 {
    do {
      return try files.open(names.temporary, .new)
    } catch {
      guard error.kind == .exists else { throw error }
      try files.remove(names.temporary)
      return try files.open(names.temporary, .new)
    }
  }
}
