import ErrandCore

/// The removals that failed and must be applied before the next read, and their record in the journal.
///
/// ``StoreWorker`` applies the removals, and reads and writes the files. The methods change only this value.
struct FailedRemovals {
  enum State: Equatable {
    /// No removal must be applied.
    case none
    /// Removals that other processes recorded could not be applied.
    case ofOthers
    /// Removals of this process failed, and the journal does not contain all of them.
    case unrecorded([CacheSelection])
    /// Removals of this process failed, and the journal contains them.
    case recorded([CacheSelection])
  }

  static let mostReplaced = 256

  private(set) var state = State.none
  /// The journal file of this process. It contains the removals that had failed or were pending when it was written.
  private(set) var file: RemovalJournal.JournalFile?
  /// The time at which a journal file may be written again, after the disk has rejected one or a large one was written.
  private var nextFile: MonotonicInstant?
  /// The last 256 entries whose newer versions could not be written. They are hidden from lookups, and removed when the
  /// index is opened again or before its next write.
  private(set) var replaced: [CacheSelection] = []

  var selections: [CacheSelection] {
    switch state {
    case .none, .ofOthers: []
    case .unrecorded(let selections), .recorded(let selections): selections
    }
  }

  /// The state of the failed removals that callers requested from this store.
  var removalState: RemovalState {
    switch state {
    case .none, .ofOthers: .done
    case .unrecorded: .pending
    case .recorded: .noted
    }
  }

  /// Whether a stored entry is hidden from lookups, because its newer version could not be written.
  func hides(_ key: CacheKey, _ head: CacheEntryHead) -> Bool { replaced.contains { $0.picks(key, head) } }

  // MARK: - Failing and applying

  /// Adds removals that failed, and entries whose newer versions could not be written.
  mutating func add(_ removals: [CacheSelection], replaced new: [CacheSelection]) {
    replaced = (replaced + new).suffix(Self.mostReplaced)
    guard !removals.isEmpty else { return }
    let all = selections + removals
    state = .unrecorded(all.count > RemovalJournal.mostRemovals ? [.all] : all)
  }

  /// Returns all removals that must be applied to an index that was just opened.
  /// - Parameter others: The removals in the journal files of other processes.
  mutating func removals(with others: [CacheSelection]) -> [CacheSelection] {
    if selections.isEmpty { state = others.isEmpty ? .none : .ofOthers }
    return selections + others
  }

  /// Records that all removals have been applied.
  mutating func settle() { state = .none }

  /// Records that the replaced entries have been removed.
  mutating func settleReplaced() { replaced = [] }

  // MARK: - The journal

  func mayWriteFile(at now: MonotonicInstant) -> Bool { nextFile.map { $0 <= now } ?? true }

  /// Records that a new journal file contains all failed and pending removals. Returns the previous file, which is no
  /// longer needed.
  /// - Parameter count: The number of removals in the file.
  mutating func recorded(
    in new: RemovalJournal.JournalFile, count: Int, at now: MonotonicInstant
  ) -> RemovalJournal.JournalFile? {
    if case .unrecorded(let selections) = state { state = .recorded(selections) }
    // Each write contains all removals, so many of them are not written again for each further one.
    nextFile = count > 1_024 ? now.advanced(by: .seconds(1)) : nil
    defer { file = new }
    return file
  }

  /// Records that the disk has rejected a journal file.
  mutating func rejected(at now: MonotonicInstant) {
    if case .recorded(let selections) = state { state = .unrecorded(selections) }
    nextFile = now.advanced(by: .seconds(1))
  }

  /// The journal file if no removal needs it any more.
  /// - Parameter hasPending: Whether the file contains removals that are still pending.
  func unneededFile(hasPending: @autoclosure () -> Bool) -> RemovalJournal.JournalFile? {
    selections.isEmpty && file != nil && !hasPending() ? file : nil
  }

  mutating func removedFile() { file = nil }
}
