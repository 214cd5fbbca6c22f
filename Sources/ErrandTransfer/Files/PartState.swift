/// What a part's file is in, and who uses it. A function of what was called; does no I/O.
struct PartState: Sendable {
  /// How a call uses the file.
  enum Use: Sendable {
    /// Beside others.
    case beside
    /// Beside others, but one at a time.
    case commit
    /// With nobody else.
    case alone
    /// With nobody else, and after a failure too.
    case last
  }

  /// What is left to be done once nobody uses the file.
  enum Chore: Sendable {
    case cut(Int32, to: Int64)
    case close(Int32)
  }

  /// Nil once it is closed.
  private(set) var file: Int32?
  /// The bytes that the system has taken.
  var written = ByteRanges()
  /// The bytes that are on the disk for sure.
  var synced = ByteRanges()
  /// Where the next piece of a single stream goes.
  var cursor: Int64 = 0
  /// The record that lies on the disk.
  var record: PartRecord?
  /// Why nothing more is written.
  private(set) var failure: FileFailure?
  /// Whether the file has got its last name: from then on it is never cut.
  var isFinished = false

  private var users = 0
  private var isCommitting = false
  private var isAlone = false
  private var isClosing = false
  private var isCut = false

  init(file: Int32) { self.file = file }

  /// Lets a call use the file.
  mutating func enter(_ use: Use, _ name: String) throws(FileFailure) -> Int32 {
    guard let file, !isClosing, !isFinished else {
      throw FileFailure(.write, name, .closed, detail: "it has been closed")
    }
    if let failure, use != .last { throw failure }
    let mayEnter: Bool
    switch use {
    case .beside: mayEnter = !isAlone
    case .commit: mayEnter = !isAlone && !isCommitting
    case .alone, .last: mayEnter = users == 0
    }
    guard mayEnter else {
      throw FileFailure(.write, name, .closed, detail: "something else is being done with it at the same time")
    }
    users += 1
    if use == .commit { isCommitting = true }
    if use == .alone || use == .last { isAlone = true }
    return file
  }

  /// The end of a use. A chore that is given must be done, and then ``leave(_:)`` called once more where it cuts.
  mutating func leave(_ use: Use) -> Chore? {
    if use == .commit { isCommitting = false }
    if use == .alone || use == .last { isAlone = false }
    users -= 1
    return nextChore()
  }

  /// Notes why nothing more is to be written: what came since the last commit is not trusted.
  mutating func fail(_ failure: FileFailure) {
    if self.failure == nil { self.failure = failure }
  }

  /// Asks for the file to be closed once nobody uses it.
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
