/// The state of an open partial file and of the calls that use it. A pure state machine without I/O.
struct PartState: Sendable {
  /// The ways in which an operation may use the partial file.
  enum Use: Sendable {
    /// The operation may use the partial file at the same time as other operations.
    case shared
    /// The operation commits bytes. Other operations may use the partial file at the same time, but no other commit
    /// may.
    case commit
    /// The operation needs the partial file for itself. No other operation may use the partial file at the same time.
    case exclusive
    /// The operation removes the partial file, and needs the partial file for itself. It is allowed even after a
    /// failure.
    case removal
  }

  /// A task on the partial file that must wait until no operation uses the file.
  enum PendingTask: Sendable {
    case cut(Int32, to: Int64)
    case close(Int32)
  }

  /// The descriptor of the open partial file; nil after the file is closed.
  private(set) var file: Int32?
  /// The ranges that were written into the partial file. Some of them may not be committed yet.
  var written = ByteRanges()
  /// The ranges of the partial file that are known to be on the disk, and that are kept after a failure.
  var synced = ByteRanges()
  /// The offset in the partial file at which the next sequential write starts.
  var cursor: Int64 = 0
  /// The metadata record as it is on the disk; nil if there is none.
  var metadata: PartMetadata?
  /// The failure after which no more bytes are written; nil if there is none.
  private(set) var failure: FileFailure?
  /// Whether the partial file has been renamed to its target. From then on, the file is never truncated.
  var isFinished = false

  private var users = 0
  private var isCommitting = false
  private var isExclusive = false
  private var isClosing = false
  private var isCut = false

  init(file: Int32) { self.file = file }

  /// Records that an operation starts to use the partial file. Throws if the operation may not use the file now.
  mutating func enter(_ use: Use, _ name: String) throws(FileFailure) -> Int32 {
    guard let file, !isClosing, !isFinished else {
      throw FileFailure(.write, name, .closed, detail: "the file is closed")
    }
    if let failure, use != .removal { throw failure }
    let mayEnter: Bool
    switch use {
    case .shared: mayEnter = !isExclusive
    case .commit: mayEnter = !isExclusive && !isCommitting
    case .exclusive, .removal: mayEnter = users == 0
    }
    guard mayEnter else {
      throw FileFailure(.write, name, .closed, detail: "another operation uses the file at the same time")
    }
    users += 1
    if use == .commit { isCommitting = true }
    if use == .exclusive || use == .removal { isExclusive = true }
    return file
  }

  /// Records that an operation has stopped using the partial file. The caller must perform the returned task. If the
  /// task is `cut`, the caller must truncate the file and then call ``leave(_:)`` again.
  mutating func leave(_ use: Use) -> PendingTask? {
    if use == .commit { isCommitting = false }
    if use == .exclusive || use == .removal { isExclusive = false }
    users -= 1
    return nextPendingTask()
  }

  /// Records a failure. After that, no more bytes are written into the partial file. The bytes written since the last
  /// commit are discarded once no operation uses the file.
  mutating func fail(_ failure: FileFailure) {
    if self.failure == nil { self.failure = failure }
  }

  /// Requests that the partial file is closed once no operation uses it.
  mutating func close() -> PendingTask? {
    isClosing = true
    return nextPendingTask()
  }

  private mutating func nextPendingTask() -> PendingTask? {
    guard users == 0, let file else { return nil }
    if failure != nil, !isCut, !isFinished {
      isCut = true
      users += 1
      written = synced
      return .cut(file, to: synced.end)
    }
    guard isClosing || isFinished else { return nil }
    self.file = nil
    return .close(file)
  }
}
