import ErrandSupport
import Foundation

/// The partial file of one download: the file `<target>.part` with the bytes received so far. It is open, locked
/// against every other download of the target, and kept consistent with its metadata record (``PartMetadata``). The
/// record never lists bytes that are not on the disk, even after a crash.
///
/// Writes, reads and one commit may run at the same time. The other calls, such as ``startOver(_:)``, need exclusive
/// use: a conflicting call throws ``FileFailure/Kind/closed`` and does nothing. All calls may block on the disk.
///
/// After a failed write or synchronization the partial file accepts no more bytes. Every later call throws the same
/// failure, the file is truncated to the bytes that the metadata record on the disk lists, and the record stays as it
/// is. To continue, ``close()`` the partial file and open it again. A write that fails because the disk is full is an
/// exception: the bytes written before may still be committed, after ``cutTorn()``.
package final class PartFile: Sendable {
  /// The paths of the target, of the partial file and of its metadata record.
  package let names: PartNames

  let files: any TransferFiles
  let identity: FileIdentity
  /// Whether the file system reports this user as the owner of the file. If not, the partial file cannot be opened
  /// again, because it may then belong to another user.
  let isOwn: Bool
  private let state: Locked<PartState>

  init(
    names: PartNames, files: any TransferFiles, identity: FileIdentity, isOwn: Bool, file: Int32,
    metadata: PartMetadata?
  ) {
    var state = PartState(file: file)
    state.metadata = metadata
    state.written = metadata?.finished ?? ByteRanges()
    state.synced = state.written
    state.cursor = state.written.prefix
    self.names = names
    self.files = files
    self.identity = identity
    self.isOwn = isOwn
    self.state = Locked(state)
  }

  deinit { close() }

  /// The metadata record as it is on the disk; nil if no record is written yet.
  package var metadata: PartMetadata? { state.withLock { $0.metadata } }
  /// The ranges that were written into the partial file. Some of them may not be committed yet.
  package var written: ByteRanges { state.withLock { $0.written } }
  /// The ranges of the partial file that are committed to disk. They survive any crash.
  package var committed: ByteRanges { state.withLock { $0.metadata?.finished ?? ByteRanges() } }
  /// The offset in the partial file at which ``append(_:)`` writes next.
  package var position: Int64 { state.withLock { $0.cursor } }

  /// Writes bytes sequentially. The first call writes at the first missing byte of the partial file.
  package func append(_ bytes: UnsafeRawBufferPointer) throws {
    try use(.shared, isFatal: false) { file in
      let place = state.withLock { $0.cursor }
      let end = try write(file, bytes, at: place)
      state.withLock {
        $0.written.insert(place..<end)
        $0.cursor = end
      }
    }
  }

  /// Writes bytes at an offset. Use this method for ranges that arrive in parallel.
  package func write(_ bytes: UnsafeRawBufferPointer, at place: Int64) throws {
    try use(.shared, isFatal: false) { file in
      let end = try write(file, bytes, at: place)
      state.withLock { $0.written.insert(place..<end) }
    }
  }

  private func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at place: Int64) throws(FileFailure) -> Int64 {
    let (end, overflow) = place.addingReportingOverflow(Int64(bytes.count))
    guard place >= 0, !overflow else {
      throw FileFailure(.write, names.part, .full, detail: "the file would exceed the largest possible size")
    }
    do {
      try files.write(file, bytes, at: place)
    } catch {
      if error.kind != .full { noteFailure(error) }
      throw error
    }
    return end
  }

  /// Synchronizes all bytes written so far to disk, and then writes a metadata record that lists the ranges of these
  /// bytes.
  ///
  /// - Parameter metadata: The record to write. This method replaces its finished ranges.
  /// - Returns: The record as it was written to disk.
  @discardableResult
  package func commit(_ metadata: PartMetadata) throws -> PartMetadata {
    try use(.commit) { file in
      let snapshot = state.withLock { $0.written }
      try files.synchronize(file)
      state.withLock { $0.synced = snapshot }
      var metadata = metadata
      metadata.finished = snapshot
      try save(metadata)
      return metadata
    }
  }

  /// Discards all bytes of the partial file, because the bytes of another version of the resource follow. If a metadata
  /// record exists, it is replaced before the bytes are discarded. If there is no record, the first commit writes one.
  package func startOver(_ metadata: PartMetadata) throws {
    try use(.exclusive) { file in
      let hasMetadata = state.withLock { state in
        state.synced = ByteRanges()
        return state.metadata != nil
      }
      if hasMetadata {
        var metadata = metadata
        metadata.finished = ByteRanges()
        try save(metadata)
      }
      try files.truncate(file, to: 0)
      state.withLock {
        $0.written = ByteRanges(); $0.cursor = 0
      }
    }
  }

  /// Called after a write failed because the disk was full. Cuts off the incomplete bytes of this write.
  package func cutTorn() throws {
    try use(.exclusive) { file in try files.truncate(file, to: state.withLock { $0.written.end }) }
  }

  /// Discards the bytes that were written into the partial file since the last commit.
  package func rollBack() throws {
    try use(.exclusive) { file in
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
    try use(.shared, isFatal: false) { file in
      if try files.reserve(file, length: total) { return }
      let free = try files.freeSpace(in: names.folder)
      let missing = total - min(max(state.withLock { $0.written.count }, 0), max(total, 0))
      if missing > free {
        let detail = "\(missing) more bytes are needed, but only \(free) are free"
        throw FileFailure(.reserve, names.part, .full, detail: detail)
      }
    }
  }

  /// Reads the bytes from an offset to the first gap, to compute a checksum.
  package func readKept(from start: Int64 = 0, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let end = state.withLock { $0.written.prefix }
    if start < end { try read(start..<end, body) }
  }

  /// Reads the written bytes of a range, to compute a checksum. Each piece has at most 1 MiB and is valid only during
  /// the call of `body`.
  package func read(_ range: Range<Int64>, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try use(.shared, isFatal: false) { file in
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
      defer { memory.deallocate() }
      var place = range.lowerBound
      while place < range.upperBound {
        let wanted = Int(min(Int64(memory.count), range.upperBound - place))
        let piece = UnsafeMutableRawBufferPointer(rebasing: memory[..<wanted])
        guard try files.read(file, into: piece, at: place) == wanted else {
          throw FileFailure(.read, names.part, .length, detail: "the file is shorter than the bytes written to it")
        }
        try body(UnsafeRawBufferPointer(piece))
        place += Int64(wanted)
      }
    }
  }

  /// Closes the file and releases its lock. The partial file and its metadata record stay on the disk. If another call
  /// uses the file, the file is closed at the end of that call.
  package func close() { perform(state.withLock { $0.close() }) }
}

extension PartFile {
  /// Runs an operation on the open partial file. If the operation fails and `isFatal` is true, the partial file accepts
  /// no more bytes.
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

  /// Records a failure. After that, no more bytes are written into the partial file.
  func noteFailure(_ failure: FileFailure) { state.withLock { $0.fail(failure.named(names.part)) } }

  /// Records that the partial file has been renamed to its target. From then on, the file is never truncated. It is
  /// closed at the end of the operation that is in progress.
  func noteFinish() { state.withLock { $0.isFinished = true } }

  /// Truncates or closes the partial file, now that no call uses it. A failure is ignored, because a partial file that
  /// is too long is truncated when it is opened the next time.
  private func perform(_ task: PartState.PendingTask?) {
    switch task {
    case .cut(let file, let length):
      try? files.truncate(file, to: length)
      perform(state.withLock { $0.leave(.shared) })
    case .close(let file): try? files.close(file)
    case nil: break
    }
  }

  /// Replaces the metadata record next to the partial file, and synchronizes the folder.
  private func save(_ metadata: PartMetadata) throws {
    let bytes = try metadata.encoded()
    guard bytes.count <= PartMetadata.limit else {
      let detail = "the metadata record would be longer than \(PartMetadata.limit) bytes"
      throw FileFailure(.write, names.metadata, .other, detail: detail)
    }
    do {
      // No other process uses the temporary file, because this process holds the lock of the partial file.
      try files.replace(names.metadata, with: bytes, by: names.temporary)
    } catch {
      // Only the record that could not be written lists the later bytes. Without it they are useless, so their space is
      // released.
      state.withLock { $0.synced = $0.metadata?.finished ?? ByteRanges() }
      throw (error as? FileFailure)?.named(names.temporary) ?? error
    }
    try files.synchronizeFolder(names.folder)
    state.withLock { $0.metadata = metadata }
  }
}

/// The paths of the files of one download. All files are in the folder of the target, because a rename cannot cross
/// file systems.
package struct PartNames: Sendable, Hashable {
  /// The suffix of the partial file, which contains the received bytes.
  package static let partSuffix = ".part"
  /// The suffix of the metadata record of the partial file.
  package static let metadataSuffix = ".part.meta"
  /// The suffix of a temporary file that contains a metadata record while it is being written.
  package static let temporarySuffix = ".part.meta.tmp"

  /// The path of the target, which is the finished file.
  package let target: String

  package init(_ target: String) { self.target = target }

  /// The path of the partial file, which contains the received bytes.
  package var part: String { target + Self.partSuffix }
  /// The path of the metadata record of the partial file.
  package var metadata: String { target + Self.metadataSuffix }
  /// The path of the temporary file that contains a metadata record while it is being written.
  package var temporary: String { target + Self.temporarySuffix }
  /// The folder of the target and of all other files of the download.
  package var folder: String { Self.folder(of: target) }

  /// The text after the last slash of a path; the whole path if there is no slash.
  package static func lastComponent(of path: String) -> String {
    // Cuts bytes instead of characters: the slash and a combining mark after it are one `Character`.
    path.utf8.lastIndex(of: 0x2F).map { String(Substring(path.utf8[$0...].dropFirst())) } ?? path
  }

  /// The text before the last slash of a path; the current folder if there is no slash.
  package static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
