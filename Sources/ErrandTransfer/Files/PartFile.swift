import ErrandSupport
import Foundation

/// The part of one download: open, locked against every other download of the same target, and kept in step with its
/// record, so that whatever happens the record never promises bytes that are not on the disk.
///
/// One thread may write while another commits. Everything else is for one caller at a time; a call that comes at the
/// wrong time throws ``FileFailure/Kind/closed`` and does nothing. All calls may block on the disk.
///
/// After a failure to write or to bring bytes to the disk nothing more is taken: every call throws that failure, the
/// part is cut to what was on the disk for sure, and the record is left as it is. ``close()`` it, and open it again to
/// go on. A write that finds no room is none of these: what was written before may still be committed, behind
/// ``cutTorn()``.
package final class PartFile: Sendable {
  /// The names of the target and of what lies beside it.
  package let names: PartNames
  /// Why there was no record to go on from when the file was opened; nil where there was one.
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

  /// The record that lies on the disk; nil where there is none yet.
  package var record: PartRecord? { state.withLock { $0.record } }
  /// The bytes that were written, committed or not.
  package var written: ByteRanges { state.withLock { $0.written } }
  /// The bytes that will still be there after any crash.
  package var committed: ByteRanges { state.withLock { $0.record?.finished ?? ByteRanges() } }
  /// Where ``append(_:)`` writes next.
  package var position: Int64 { state.withLock { $0.cursor } }

  /// Writes the next bytes of a single stream, which begins behind the bytes that were there from the start on.
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

  /// Writes bytes at a place: for several ranges side by side.
  package func write(_ bytes: UnsafeRawBufferPointer, at place: Int64) throws {
    try use(.beside, isFatal: false) { file in
      let end = try write(file, bytes, at: place)
      state.withLock { $0.written.insert(place..<end) }
    }
  }

  private func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at place: Int64) throws(FileFailure) -> Int64 {
    let (end, overflow) = place.addingReportingOverflow(Int64(bytes.count))
    guard place >= 0, !overflow else {
      throw FileFailure(.write, names.part, .full, detail: "it would be longer than a file can be")
    }
    do {
      try files.write(file, bytes, at: place)
    } catch {
      if error.kind != .full { noteFailure(error) }
      throw error
    }
    return end
  }

  /// Brings all that was written so far to the disk, and then a record that says so.
  ///
  /// - Parameter record: What to write; its finished ranges are set here.
  /// - Returns: The record as it lies on the disk.
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

  /// Forgets every byte, for another version of the resource. Where a record lies on the disk, the new one takes its
  /// place first; where there is none, the first commit writes it.
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

  /// Cuts off what a write that found no room has left behind the bytes that count.
  package func cutTorn() throws {
    try use(.alone) { file in try files.truncate(file, to: state.withLock { $0.written.end }) }
  }

  /// Forgets what was written since the last commit.
  package func rollBack() throws {
    try use(.alone) { file in
      let synced = state.withLock { $0.synced }
      try files.truncate(file, to: synced.end)
      state.withLock {
        $0.written = synced; $0.cursor = synced.prefix
      }
    }
  }

  /// Sets room aside for the whole file; throws ``FileFailure/Kind/full`` where there is not enough. The part can be
  /// used after any failure of this.
  package func reserve(_ total: Int64) throws {
    try use(.beside, isFatal: false) { file in
      if try files.reserve(file, length: total) { return }
      let free = try files.freeSpace(in: names.folder)
      let missing = total - min(max(state.withLock { $0.written.count }, 0), max(total, 0))
      if missing > free {
        let detail = "\(missing) bytes are missing and the disk has room for \(free)"
        throw FileFailure(.reserve, names.part, .full, detail: detail)
      }
    }
  }

  /// Reads the bytes from a place on, for a checksum. What is not there from the start on without a gap is left out.
  package func readKept(from start: Int64 = 0, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let end = state.withLock { $0.written.prefix }
    if start < end { try read(start..<end, body) }
  }

  /// Reads bytes that were written, for a checksum, in pieces of at most 1 MiB that are valid during the call.
  package func read(_ range: Range<Int64>, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try use(.beside, isFatal: false) { file in
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
      defer { memory.deallocate() }
      var place = range.lowerBound
      while place < range.upperBound {
        let wanted = Int(min(Int64(memory.count), range.upperBound - place))
        let piece = UnsafeMutableRawBufferPointer(rebasing: memory[..<wanted])
        guard try files.read(file, into: piece, at: place) == wanted else {
          throw FileFailure(.read, names.part, .length, detail: "it ends before the bytes that were written")
        }
        try body(UnsafeRawBufferPointer(piece))
        place += Int64(wanted)
      }
    }
  }

  /// Closes the file and frees its lock; part and record stay. At once, or when the call that uses it is over.
  package func close() { perform(state.withLock { $0.close() }) }
}

extension PartFile {
  /// Lets a call use the file, and notes its failure.
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

  /// Notes a failure after which nothing more is written.
  func noteFailure(_ failure: FileFailure) { state.withLock { $0.fail(failure.named(names.part)) } }

  /// The part has its last name: nothing cuts it any more, and it is closed when the call is over.
  func noteFinish() { state.withLock { $0.isFinished = true } }

  /// Does what was left until nobody used the file. Nothing that is promised hangs on its success: what is too long is
  /// cut when it is opened.
  private func perform(_ chore: PartState.Chore?) {
    switch chore {
    case .cut(let file, let length):
      try? files.truncate(file, to: length)
      perform(state.withLock { $0.leave(.beside) })
    case .close(let file): try? files.close(file)
    case nil: break
    }
  }

  /// Writes the record beside the part: a new file, brought to the disk, then renamed, then the folder.
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

  /// A crash may have left one; we have the lock, so nobody else writes it.
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
