/// The state of an open partial file and of the calls that use it. A pure state machine without I/O.
struct PartState: Sendable {
  /// The ways in which a call uses the file.
  enum Use: Sendable {
    /// Uses the file at the same time as other calls.
    case beside
    /// Commits at the same time as other calls use the file, but not at the same time as another commit.
    case commit
    /// Uses the file exclusively: no other call uses it at the same time.
    case alone
    /// Uses the file exclusively, even after a failure. For the last call only.
    case last
  }

  /// A task to perform once no call uses the file.
  enum Chore: Sendable {
    case cut(Int32, to: Int64)
    case close(Int32)
  }

  /// The descriptor; nil once it is closed.
  private(set) var file: Int32?
  /// The ranges that were written.
  var written = ByteRanges()
  /// The ranges that are known to be on the disk.
  var synced = ByteRanges()
  /// The offset of the next piece of a single stream.
  var cursor: Int64 = 0
  /// The record on the disk.
  var record: PartRecord?
  /// The failure after which nothing more is written.
  private(set) var failure: FileFailure?
  /// Whether the file has been renamed to its target. From then on it is never cut.
  var isFinished = false

  private var users = 0
  private var isCommitting = false
  private var isAlone = false
  private var isClosing = false
  private var isCut = false

  init(file: Int32) { self.file = file }

  /// Starts a use of the file.
  mutating func enter(_ use: Use, _ name: String) throws(FileFailure) -> Int32 {
    guard let file, !isClosing, !isFinished else {
      throw FileFailure(.write, name, .closed, detail: "it is closed")
    }
    if let failure, use != .last { throw failure }
    let mayEnter: Bool
    switch use {
    case .beside: mayEnter = !isAlone
    case .commit: mayEnter = !isAlone && !isCommitting
    case .alone, .last: mayEnter = users == 0
    }
    guard mayEnter else {
      throw FileFailure(.write, name, .closed, detail: "another operation uses it at the same time")
    }
    users += 1
    if use == .commit { isCommitting = true }
    if use == .alone || use == .last { isAlone = true }
    return file
  }

  /// Ends a use. The caller must perform the returned task. After a `cut` task it must call ``leave(_:)`` again.
  mutating func leave(_ use: Use) -> Chore? {
    if use == .commit { isCommitting = false }
    if use == .alone || use == .last { isAlone = false }
    users -= 1
    return nextChore()
  }

  /// Records why nothing more is written. Bytes written since the last commit no longer count.
  mutating func fail(_ failure: FileFailure) {
    if self.failure == nil { self.failure = failure }
  }

  /// Requests that the file is closed once no call uses it.
  mutating func close() -> Chore? {
    isClosing = true
    return nextChore()
  }

  private mutating func nextChore() -> Chore? {
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
