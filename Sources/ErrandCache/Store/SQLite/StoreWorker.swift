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
  var index: StoreIndex?
  /// The removals that failed and must be applied before the next read.
  var failedRemovals: [CacheSelection] = []
  /// The last 256 entries whose newer versions could not be written. They are removed when the index is opened again.
  var replaced: [CacheSelection] = []
  /// The journal file of this process, with the failed and the pending removals.
  private var journalFile: RemovalJournal.JournalFile?
  /// The time at which a journal file may be written again, after the disk has rejected one or a large one was written.
  private var nextJournalWrite: MonotonicInstant?
  /// Whether removals of this process or of another process have failed.
  var hasFailedRemovals = false
  private var outage = IndexOutage()
  private var patience = LockPatience.untilRead
  /// The writes in progress.
  var batch: [PendingWrites.Numbered] = []
  private var delay = WriteDelay()
  private var uses: [Int64: WallTime] = [:]
  /// The salt that this process uses; nil if it uses none yet.
  private var ownSalt: StoreSalt?

  init(_ settings: StoreSettings, mailbox: StoreMailbox) { (self.settings, self.mailbox) = (settings, mailbox) }

  func run() {
    while true {
      switch mailbox.next(retry: delay.retry) {
      case .read(let jobs): read(jobs)
      case .write(let taken):
        if !taken.isEmpty { batch = taken }
        write()
      case .sleep: break
      case .end:
        try? using { index throws(SQLiteFailure) in try writeUses(index) }
        index = nil
        return
      }
    }
  }

  /// The salt (random bytes) of the folder. If the salt cannot be read or created, the result is a temporary salt.
  func salt() -> Digest {
    let salt = knownSalt() ?? StoreSalt(digest: .random(), origin: .temporary)
    ownSalt = salt
    return salt.digest
  }

  /// The salt that this process uses. If the process uses none yet, the salt of the folder is read or created. Nil if
  /// this failed.
  private func knownSalt() -> StoreSalt? {
    if let ownSalt { return ownSalt }
    guard (try? settings.folder.prepare()) != nil else { return nil }
    ownSalt = FileLock.alone(settings.folder.salt).flatMap { StoreSalt.load($0) }
    return ownSalt
  }

  private func read(_ jobs: [StoreJob]) {
    waiting(.always) { for job in jobs { job(self) } }
  }

  // MARK: - Using the index

  /// Runs `body` with the open index. If `body` fails, a broken store is emptied, an index that is unavailable is
  /// closed, and the failure is thrown again.
  func using<Result>(_ body: (StoreIndex) throws(SQLiteFailure) -> Result) throws(SQLiteFailure) -> Result {
    do throws(SQLiteFailure) {
      let result = try body(try opened())
      outage.end()
      return result
    } catch {
      switch error.meaning {
      case .busy: break
      case .broken: empty()
      case .unavailable: if error.code & 0xFF != SQLiteFailure.noRoom.code { index = nil }
      }
      throw error
    }
  }

  private func opened() throws(SQLiteFailure) -> StoreIndex {
    if let index { return index }
    if let failure = outage.failure(at: .now) { throw failure }
    do throws(SQLiteFailure) {
      return try open()
    } catch {
      // Empty the folder if earlier removals cannot be applied, for example because the disk is full.
      let isOurs = error.code != SQLiteFailure.otherSalt.code
      let mayEmpty = error.meaning == .broken || error.meaning == .unavailable && hasFailedRemovals && isOurs
      if mayEmpty, empty(), let index = try? open() { return index }
      let reason = error.meaning == .broken ? .noFolder : error
      outage.begin(reason, at: .now)
      throw reason
    }
  }

  private func open() throws(SQLiteFailure) -> StoreIndex {
    guard let salt = knownSalt() else { throw .noFolder }
    let opened = try StoreIndex(settings, salt: salt) { [weak self] in self?.givesUp ?? true }
    ownSalt = StoreSalt(digest: salt.digest, origin: .stored)
    guard let others = settings.folder.journal.read(but: journalFile?.name) else { throw .noFolder }
    let removals = failedRemovals + others.removals
    hasFailedRemovals = !removals.isEmpty
    // While the removals are applied, no read may run: a read would open the index a second time.
    if hasFailedRemovals {
      try remove(removals, from: opened, pause: {})
      settle()
    }
    if !replaced.isEmpty, (try? remove(replaced, from: opened, pause: {})) != nil { replaced = [] }
    // A journal file that cannot be removed does no harm: the next process applies the removals in it again.
    if !others.names.isEmpty, settings.folder.synchronizeLog() {
      settings.folder.journal.removeAbandoned(others.names)
    }
    index = opened
    return opened
  }

  /// Records that all removals that had failed before have been applied now.
  private func settle() {
    failedRemovals = []
    hasFailedRemovals = false
    mailbox.setRemovals(failed: .done)
    removeJournalFile()
  }

  /// Removes the journal file of this process when its removals have been applied and synchronised with the disk.
  /// Otherwise the file stays until the index is opened again.
  private func removeJournalFile() {
    guard let journalFile, failedRemovals.isEmpty, !mailbox.pending(\.hasJournaledRemoval),
      settings.folder.synchronizeLog()
    else { return }
    settings.folder.journal.remove(journalFile)
    self.journalFile = nil
  }

  /// Records the failed and the pending removals in the journal, so that they are applied even if the process ends.
  /// Returns false if the disk rejects the record.
  @discardableResult
  func writeJournal() -> Bool {
    let waiting = mailbox.pending(\.removals)
    let removals = failedRemovals + waiting.selections.map(meant)
    guard !removals.isEmpty else { return true }
    guard let new = settings.folder.journal.write(removals) else {
      nextJournalWrite = MonotonicInstant.now.advanced(by: .seconds(1))
      mailbox.setRemovals(failed: failedRemovals.isEmpty ? .done : .pending)
      return false
    }
    if let journalFile { settings.folder.journal.remove(journalFile) }
    journalFile = new
    // Each write contains all removals, so many of them are not written again for each further one.
    nextJournalWrite = removals.count > 1_024 ? MonotonicInstant.now.advanced(by: .seconds(1)) : nil
    mailbox.setRemovals(failed: failedRemovals.isEmpty ? .done : .noted, journaled: waiting)
    return true
  }

  /// The entries to remove on disk. If the salt of the folder could not be read, digests with the temporary salt match
  /// nothing on disk, so all entries are removed instead.
  func meant(_ selection: CacheSelection) -> CacheSelection {
    ownSalt?.origin == .temporary && selection.isByDigest ? .all : selection
  }

  /// Whether to stop waiting for another process, because a read is pending or a removal must be recorded in the
  /// journal.
  private var givesUp: Bool {
    patience.isOver(hasReads: mailbox.hasReads, hasUnjournaledPurge: mailbox.pending(\.hasUnjournaledPurge))
  }

  /// Runs `body`, and decides with `patience` how long its statements wait for other processes.
  func waiting<Result, Failure: Error>(
    _ patience: LockPatience, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outer = self.patience
    self.patience = patience
    defer { self.patience = outer }
    return try body()
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
      outage.begin(.noFolder, at: .now)
    }
    return isEmpty
  }

  /// Runs pending reads between two steps of a long operation.
  func pause() { read(mailbox.takeReads()) }

  /// Records that an entry was used now. The time is written to the index later.
  func recordUse(_ use: Int64) {
    if uses.count < 8_192 { uses[use] = .now }
  }

  /// Writes the times at which entries were last used. Reads that run during this method record new times for later.
  func writeUses(_ index: StoreIndex) throws(SQLiteFailure) {
    var rest = uses.map { (id: $0.key, time: $0.value) }[...]
    uses = [:]
    do throws(SQLiteFailure) {
      try inSteps(&rest, index) { some throws(SQLiteFailure) in try index.touch(some) }
    } catch {
      for use in rest where uses[use.id] == nil { uses[use.id] = use.time }
      throw error
    }
    try writeUsesAbove(index)
  }

  private func writeUsesAbove(_ index: StoreIndex) throws(SQLiteFailure) {
    var rest = mailbox.usesAbove.withLock { $0.take() }.map { (place: $0.key, time: $0.value) }[...]
    do throws(SQLiteFailure) {
      try inSteps(&rest, index) { some throws(SQLiteFailure) in try index.touch(some) }
    } catch {
      let left = rest
      mailbox.usesAbove.withLock { uses in for use in left { uses.record(use.place, at: use.time) } }
      throw error
    }
  }

  /// Writes the elements of `rest` in several small transactions. Pending reads run after each transaction.
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
    delay.begin(at: .now)
    if case .barrier(let job) = batch.first?.write {
      job(self)
      return finish()
    }
    do throws(SQLiteFailure) {
      try waiting(mayWriteJournal ? .untilReadOrPurge : .untilRead) { () throws(SQLiteFailure) in
        try using { index throws(SQLiteFailure) in try commit(index) }
      }
      finish()
    } catch {
      switch error.meaning {
      case .busy where delay.delay(at: .now, isClosing: mailbox.isClosing): writeJournalIfDue()
      case .busy, .broken, .unavailable:
        salvage()
        finish()
      }
    }
  }

  /// Records pending removals in the journal: of many entries immediately, of single entries after a second.
  private func writeJournalIfDue() {
    guard mayWriteJournal else { return }
    let isDue =
      mailbox.pending(\.hasUnjournaledPurge)
      || delay.isLong(at: .now) && mailbox.pending(\.removalState) == .pending
    if isDue { writeJournal() }
  }

  /// Whether a journal file may be written now: see ``nextJournalWrite``.
  var mayWriteJournal: Bool { nextJournalWrite.map { $0 <= .now } ?? true }

  private func finish() {
    delay.end()
    let done = batch
    batch = []
    mailbox.finish(done)
    removeJournalFile()
  }

  private func commit(_ index: StoreIndex) throws(SQLiteFailure) {
    // Another program has removed or replaced the index file, so nothing can be written to the open index.
    if index.isGone { throw .noFolder }
    try index.sweepOnce()
    let writes = batch.map { prepared($0.write) }
    let hasRoom = try logHasRoom(index)
    if let write = batch.first?.write, try removeInSlices(write, from: index, keepingLog: hasRoom) {
      // The write is done: it is the only one in its batch.
    } else if hasRoom {
      try apply(writes, to: index)
    } else {
      try index.transaction { () throws(SQLiteFailure) in for write in writes { try write.apply(index, fits: false) } }
    }
    guard writes.contains(where: \.leavesTraces) else { return }
    try waiting(.untilRead) { () throws(SQLiteFailure) in try index.releasePages(pause: pause) }
  }

  private func apply(_ writes: [PreparedWrite], to index: StoreIndex) throws(SQLiteFailure) {
    var cost = StoreCost.none
    for write in writes { cost += write.cost }
    let isFull = try !index.space().holds(cost)
    if isFull || uses.count + mailbox.usesAbove.withLock({ $0.times.count }) > 1_024 { try writeUses(index) }
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

  /// Whether the write-ahead log has space for the writes in `batch`; see ``WriteDelay/waitsForLog(hasSpace:at:)``.
  private func logHasRoom(_ index: StoreIndex) throws(SQLiteFailure) -> Bool {
    let hasSpace = try index.holdsLog()
    if delay.waitsForLog(hasSpace: hasSpace, at: .now) { throw .busy }
    return hasSpace
  }

  private func prepared(_ write: PendingWrites.Write) -> PreparedWrite {
    if case .remove(let selection) = write { return .remove(meant(selection)) }
    return PreparedWrite(write, settings: settings)
  }
}
