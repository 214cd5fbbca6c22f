import ErrandCore
import ErrandSupport
import Foundation

/// The work on the thread of a ``SQLiteStore``: opens the index, answers lookups, writes, and recovers from failures.
///
/// A broken index is deleted and created again. If that fails, or if the folder cannot be used, the store does nothing
/// for a while and then tries again. Removals that failed are applied before the next read. Until then they are
/// recorded in the journal, so that the next process that opens the folder applies them if this process ends.
final class StoreWorker {
  let settings: StoreSettings
  let mailbox: StoreMailbox
  private var index: StoreIndex?
  /// The removals that failed and must be applied before the next read.
  private var owed: [CacheSelection] = []
  /// The stored entries whose newer versions could not be written. They are removed together with the failed removals.
  /// Only the last 256 are remembered.
  private var replaced: [CacheSelection] = []
  /// The journal file of this process, with the failed and the pending removals.
  private var ownNote: RemovalJournal.Note?
  /// The time at which the journal is tried again, after the disk has rejected a journal file.
  private var noteAfter: MonotonicInstant?
  /// Whether there are failed removals, of this process or of another one.
  private var owesSomething = false
  /// The number of consecutive failures to use the index. ``offUntil`` is the end of the current pause, ``offReason``
  /// its reason.
  private var failures = 0
  private var offUntil: MonotonicInstant?
  private var offReason = SQLiteFailure.noFolder
  private var isReading = false
  /// Whether a write stops waiting for another process if a pending removal could be recorded in the journal meanwhile.
  private var notesRemovals = false
  /// Whether the current work must not wait for another process.
  private var isHasty = false
  /// The writes that are being carried out. ``busySince`` is the time since which another process blocks them, and
  /// ``retry`` the time of the next attempt.
  private var batch: [PendingWrites.Numbered] = []
  private var busySince: MonotonicInstant?
  private var retry: MonotonicInstant?
  /// Whether another process has blocked the log for too long, for example a process that was suspended during a read.
  private var isLogStuck = false
  private var uses: [Int64: WallTime] = [:]
  private var ownSalt: StoreSalt?
  private var isSaltMadeUp = false

  init(_ settings: StoreSettings, mailbox: StoreMailbox) {
    self.settings = settings
    self.mailbox = mailbox
  }

  func run() {
    while true {
      switch mailbox.next(retry: retry) {
      case .read(let jobs): read(jobs)
      case .write(let taken):
        if !taken.isEmpty { batch = taken }
        write()
      case .sleep: break
      case .end:
        try? using { index throws(SQLiteFailure) in try noteUses(index) }
        index = nil
        return
      }
    }
  }

  /// The salt of the folder. If it cannot be read or created, a temporary salt of this process.
  func salt() -> Digest {
    if let salt = knownSalt() { return salt.digest }
    let salt = StoreSalt(digest: .random(), isNew: true)
    (ownSalt, isSaltMadeUp) = (salt, true)
    return salt.digest
  }

  /// The salt that this process uses. If it has none yet, the salt of the folder; nil if that cannot be read or
  /// created.
  private func knownSalt() -> StoreSalt? {
    if let ownSalt { return ownSalt }
    guard (try? settings.folder.prepare()) != nil else { return nil }
    ownSalt = FileLock.alone(settings.folder.salt).flatMap { StoreSalt.load($0) }
    return ownSalt
  }

  private func read(_ jobs: [StoreJob]) {
    let was = isReading
    isReading = true
    for job in jobs { job(self) }
    isReading = was
  }

  // MARK: - Using the index

  /// Runs `body` with the open index. If that fails, empties a broken store or closes the index, and rethrows the
  /// failure.
  func using<Result>(_ body: (StoreIndex) throws(SQLiteFailure) -> Result) throws(SQLiteFailure) -> Result {
    do throws(SQLiteFailure) {
      let result = try body(try opened())
      failures = 0
      return result
    } catch {
      switch error.meaning {
      case .busy: break
      case .broken: empty()
      case .surroundings: if error.code & 0xFF != SQLiteFailure.noRoom.code { index = nil }
      }
      throw error
    }
  }

  private func opened() throws(SQLiteFailure) -> StoreIndex {
    if let index { return index }
    if let offUntil, MonotonicInstant.now < offUntil { throw offReason }
    do throws(SQLiteFailure) {
      return try open()
    } catch {
      // Removals may be impossible, for example because the disk is full. Then the whole folder is emptied instead.
      let isOurs = error.code != SQLiteFailure.otherSalt.code
      let mayEmpty = error.meaning == .broken || error.meaning == .surroundings && owesSomething && isOurs
      if mayEmpty, empty(), let index = try? open() { return index }
      stayOff(error.meaning == .broken ? .noFolder : error)
      throw offReason
    }
  }

  private func open() throws(SQLiteFailure) -> StoreIndex {
    guard let salt = knownSalt() else { throw .noFolder }
    let opened = try StoreIndex(settings, salt: salt) { [weak self] in self?.givesUp ?? true }
    ownSalt = StoreSalt(digest: salt.digest, isNew: false)
    isSaltMadeUp = false
    guard let others = settings.folder.journal.read(but: ownNote?.name) else { throw .noFolder }
    let removals = owed + others.removals
    owesSomething = !removals.isEmpty
    // No read may run in the meantime, because it would open the index a second time.
    if owesSomething {
      try remove(removals, from: opened, pause: {})
      settle()
    }
    if !replaced.isEmpty, (try? remove(replaced, from: opened, pause: {})) != nil { replaced = [] }
    // A file that cannot be removed does no harm: the next process that opens the index applies it again.
    if !others.names.isEmpty, settings.folder.synchronizeLog() {
      settings.folder.journal.removeAbandoned(others.names)
    }
    index = opened
    return opened
  }

  /// Records that all failed removals have been applied.
  private func settle() {
    owed = []
    owesSomething = false
    mailbox.noteRemovals(owed: .done)
    forgetNote()
  }

  /// Removes the journal file of this process when its removals have been applied and synchronised with the disk.
  /// Otherwise the file stays until the index is opened again.
  private func forgetNote() {
    guard let ownNote, owed.isEmpty, !mailbox.pending(\.hasNotedRemoval), settings.folder.synchronizeLog()
    else { return }
    settings.folder.journal.remove(ownNote)
    self.ownNote = nil
  }

  /// Records the failed and the pending removals in the journal, so that they are applied even if the process ends.
  private func noteRemovals() {
    let waiting = mailbox.pending(\.removals)
    let removals = owed + waiting.selections.map(meant)
    guard !removals.isEmpty else { return }
    guard let new = settings.folder.journal.write(removals) else {
      noteAfter = MonotonicInstant.now.advanced(by: .seconds(1))
      return mailbox.noteRemovals(owed: owed.isEmpty ? .done : .pending)
    }
    if let ownNote { settings.folder.journal.remove(ownNote) }
    ownNote = new
    noteAfter = nil
    mailbox.noteRemovals(owed: owed.isEmpty ? .done : .noted, upTo: waiting.last)
  }

  /// The entries to remove on disk. If the salt of the folder could not be read, digests with the temporary salt match
  /// nothing on disk, so all entries are removed instead.
  private func meant(_ selection: CacheSelection) -> CacheSelection {
    isSaltMadeUp && selection.isByDigest ? .all : selection
  }

  /// Removes entries in one transaction and erases their data if necessary.
  private func remove(
    _ selections: [CacheSelection], from index: StoreIndex, pause: () -> Void
  ) throws(SQLiteFailure) {
    try index.transaction { () throws(SQLiteFailure) in for selection in selections { try index.remove(selection) } }
    if selections.contains(where: \.leavesTraces) { try index.giveBack(pause: pause) }
  }

  /// Whether to stop waiting for another process, because a read is pending or a removal must be recorded in the
  /// journal.
  private var givesUp: Bool {
    isHasty || !isReading && (mailbox.hasReads || notesRemovals && mailbox.pending(\.hasUnnotedPurge))
  }

  /// Runs work that must not wait for another process.
  func hastily(_ body: () -> Void) {
    isHasty = true
    body()
    isHasty = false
  }

  /// Empties the folder, so that a new store is created at the next use. Returns false if that failed, for example
  /// because another process has the store open.
  @discardableResult
  private func empty() -> Bool {
    index = nil
    uses = [:]
    try? settings.folder.prepare()
    let setUp = settings.folder.fault == nil ? FileLock.alone(settings.folder.salt) : nil
    let isEmpty = withExtendedLifetime(setUp) { setUp != nil && settings.folder.empty() }
    if isEmpty {
      replaced = []
      settle()
    } else {
      stayOff(.noFolder)
    }
    return isEmpty
  }

  private func stayOff(_ reason: SQLiteFailure) {
    offReason = reason
    failures = min(failures + 1, 8)
    offUntil = MonotonicInstant.now.advanced(by: .milliseconds(50 << failures))
  }

  /// Runs pending reads between two steps of a long operation.
  func pause() { read(mailbox.takeReads()) }

  /// Records that an entry was used. The use is written later.
  func note(_ use: Int64) {
    if uses.count < 8_192 { uses[use] = .now }
  }

  /// Writes the times of the last uses. If reads run in between, their uses are written the next time.
  func noteUses(_ index: StoreIndex) throws(SQLiteFailure) {
    var rest = uses.map { (id: $0.key, time: $0.value) }[...]
    uses = [:]
    do throws(SQLiteFailure) {
      try inSteps(&rest, index) { some throws(SQLiteFailure) in try index.touch(some) }
    } catch {
      for use in rest where uses[use.id] == nil { uses[use.id] = use.time }
      throw error
    }
    try noteUsesAbove(index)
  }

  private func noteUsesAbove(_ index: StoreIndex) throws(SQLiteFailure) {
    var rest = mailbox.usesAbove.withLock { $0.take() }.map { (place: $0.key, time: $0.value) }[...]
    do throws(SQLiteFailure) {
      try inSteps(&rest, index) { some throws(SQLiteFailure) in try index.touch(some) }
    } catch {
      let left = rest
      mailbox.usesAbove.withLock { uses in for use in left { uses.note(use.place, at: use.time) } }
      throw error
    }
  }

  /// Writes the elements of `rest` in small steps, so that reads do not wait long.
  private func inSteps<Use>(
    _ rest: inout ArraySlice<Use>, _ index: StoreIndex, _ write: ([Use]) throws(SQLiteFailure) -> Void
  ) throws(SQLiteFailure) {
    while !rest.isEmpty {
      let some = Array(rest.prefix(max(4, settings.framesPerTransaction / 4)))
      guard try index.holdsLog() else { throw .busy }
      try index.transaction { () throws(SQLiteFailure) in try write(some) }
      rest = rest.dropFirst(some.count)
      pause()
    }
  }

  // MARK: - Writing

  private func write() {
    retry = nil
    if case .barrier(let job) = batch.first?.write {
      job(self)
      return finish()
    }
    let began = MonotonicInstant.now
    notesRemovals = mayNote
    defer { notesRemovals = false }
    do throws(SQLiteFailure) {
      try using { index throws(SQLiteFailure) in try commit(index) }
      finish()
    } catch {
      switch error.meaning {
      case .busy where !isBusyForLong():
        noteRemovals(afterTryingSince: min(busySince ?? began, began))
        retry = MonotonicInstant.now.advanced(by: .milliseconds(20))
      case .busy, .broken, .surroundings:
        notesRemovals = false
        salvage()
        finish()
      }
    }
  }

  /// Records pending removals in the journal: removals of many entries immediately, removals of single entries after a
  /// second.
  private func noteRemovals(afterTryingSince began: MonotonicInstant) {
    guard mayNote else { return }
    let isLong = began.duration(to: .now) > .seconds(1)
    if mailbox.pending(\.hasUnnotedPurge) || isLong && mailbox.pending(\.removalState) == .pending { noteRemovals() }
  }

  /// Whether the journal may be tried now.
  private var mayNote: Bool { noteAfter.map { $0 <= .now } ?? true }

  private func finish() {
    busySince = nil
    let done = batch
    batch = []
    mailbox.finish(done)
    forgetNote()
  }

  private func isBusyForLong() -> Bool {
    let now = MonotonicInstant.now
    let since = busySince ?? now
    busySince = since
    return since.duration(to: now) > (mailbox.isClosing ? .seconds(5) : .seconds(30))
  }

  private func commit(_ index: StoreIndex) throws(SQLiteFailure) {
    // Another program has removed or replaced the index file.
    if index.isGone { throw .noFolder }
    try index.sweepOnce()
    let writes = batch.map { prepared($0.write) }
    if try logHasRoom(index) {
      try apply(writes, to: index)
    } else {
      try index.transaction { () throws(SQLiteFailure) in for write in writes { try write.apply(index, fits: false) } }
    }
    notesRemovals = false
    if writes.contains(where: \.leavesTraces) { try index.giveBack(pause: pause) }
  }

  private func apply(_ writes: [PreparedWrite], to index: StoreIndex) throws(SQLiteFailure) {
    var cost = StoreCost.none
    for write in writes { cost += write.cost }
    let isFull = try !index.space().holds(cost)
    if isFull || uses.count + mailbox.usesAbove.withLock({ $0.times.count }) > 1_024 { try noteUses(index) }
    for attempt in 0..<4 {
      try index.makeRoom(cost, pause: pause)
      let isDone = try index.transaction { () throws(SQLiteFailure) in
        let fits = try index.space().fits(cost)
        guard fits || attempt == 3 else { return false }
        for write in writes { try write.apply(index, fits: fits) }
        return true
      }
      if isDone { break }
    }
  }

  /// Whether the log has space for the batch. If not, the batch waits. After two seconds the new entries of the batch
  /// are dropped, and only its removals are carried out.
  private func logHasRoom(_ index: StoreIndex) throws(SQLiteFailure) -> Bool {
    if try index.holdsLog() {
      isLogStuck = false
      return true
    }
    isLogStuck = isLogStuck || busySince.map { $0.duration(to: .now) > .seconds(2) } ?? false
    guard isLogStuck else { throw .busy }
    return false
  }

  private func prepared(_ write: PendingWrites.Write) -> PreparedWrite {
    if case .remove(let selection) = write { return .remove(meant(selection)) }
    return PreparedWrite(write, settings: settings)
  }

  /// Makes sure after a failed write that no lookup finds the entries that the write should have removed or replaced.
  private func salvage() {
    // Start with all entries of the batch: if the index cannot be read, each of them may exist.
    var removals = batch.compactMap(\.write.removal)
    var replaced = batch.compactMap(\.write.replaced)
    do throws(SQLiteFailure) {
      try using { index throws(SQLiteFailure) in
        removals = try index.held(removals)
        replaced = try index.held(replaced)
        let old = removals.map(meant) + replaced
        if !old.isEmpty { try remove(old, from: index, pause: pause) }
      }
    } catch {
      owe(removals.map(meant), replaced)
    }
  }

  /// Records failed removals. They are applied when the index is opened again, before anything is read.
  private func owe(_ removals: [CacheSelection], _ replaced: [CacheSelection]) {
    guard !removals.isEmpty || !replaced.isEmpty else { return }
    index = nil
    self.replaced = (self.replaced + replaced).suffix(256)
    guard !removals.isEmpty else { return }
    owed += removals
    if owed.count > 256 { owed = [.all] }
    owesSomething = true
    if mayNote { noteRemovals() } else { mailbox.noteRemovals(owed: .pending) }
  }
}
