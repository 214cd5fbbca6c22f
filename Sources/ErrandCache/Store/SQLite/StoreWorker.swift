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
  /// The open index; nil if the index is closed.
  var index: StoreIndex?
  private var outage = IndexOutage()
  private var patience = LockPatience.untilRead
  /// The salt that this process uses; nil if it uses none yet.
  private(set) var ownSalt: StoreSalt?
  var failed = FailedRemovals()
  private(set) var batch: [PendingWrites.Numbered] = []
  private var delay = WriteDelay()

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
        try? using { index throws(SQLiteFailure) in
          try removeReplaced(from: index)
          try writeUses(index)
        }
        index = nil
        return
      }
    }
  }

  private func read(_ jobs: [StoreJob]) {
    waiting(.always) { for job in jobs { job(self) } }
  }

  /// Runs pending reads between two steps of a long operation.
  func pause() { read(mailbox.takeReads()) }

  /// Runs `body`, and decides with `patience` how long its statements wait for other processes.
  func waiting<Result, Failure: Error>(
    _ patience: LockPatience, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outer = self.patience
    self.patience = patience
    defer { self.patience = outer }
    return try body()
  }

  // MARK: - Writing

  private func write() {
    delay.begin(at: .now)
    if case .barrier(let job) = batch.first?.write {
      job(self)
      return finish()
    }
    do throws(SQLiteFailure) {
      try waiting(failed.mayWriteFile(at: .now) ? .untilReadOrPurge : .untilRead) { () throws(SQLiteFailure) in
        try using { index throws(SQLiteFailure) in try commit(index) }
      }
      finish()
    } catch {
      switch error.meaning {
      case .busy where delay.delay(at: .now, isClosing: mailbox.isClosing):
        writeJournalIfDue(isLong: delay.isLong(at: .now))
      case .busy, .broken, .unavailable:
        salvage()
        finish()
      }
    }
  }

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
    // The writes may store new versions of these entries, so the old versions are removed before.
    try removeReplaced(from: index)
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
    if isFull || mailbox.uses.withLock({ $0.times.count }) > 1_024 { try writeUses(index) }
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
      let mayEmpty = error.meaning == .broken || error.meaning == .unavailable && failed.state != .none && isOurs
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
    guard let others = settings.folder.journal.read(but: failed.file?.name) else { throw .noFolder }
    let removals = failed.removals(with: others.removals)
    // While the removals are applied, no read may run: a read would open the index a second time.
    if !removals.isEmpty {
      try remove(removals, from: opened, pause: {})
      settle()
    }
    // If another process prevents this now, the entries are hidden from lookups until they are removed.
    waiting(.never) { _ = try? removeReplaced(from: opened) }
    // A journal file that cannot be removed does no harm: the next process applies the removals in it again.
    if !others.names.isEmpty, settings.folder.synchronizeLog() {
      settings.folder.journal.removeAbandoned(others.names)
    }
    index = opened
    return opened
  }

  /// Whether to stop waiting for another process, because a read is pending or a removal must be recorded in the
  /// journal.
  private var givesUp: Bool {
    patience.isOver(hasReads: mailbox.hasReads, hasUnjournaledPurge: mailbox.pending(\.hasUnjournaledPurge))
  }

  /// Empties the folder, so that a new store is created at the next use. Returns false if that failed, for example
  /// because another process has the store open.
  @discardableResult
  private func empty() -> Bool {
    index = nil
    try? settings.folder.prepare()
    let setUp = settings.folder.fault == nil ? FileLock.alone(settings.folder.salt) : nil
    let isEmpty = withExtendedLifetime(setUp) { setUp != nil && settings.folder.empty() }
    if isEmpty {
      failed.settleReplaced()
      settle()
    } else {
      outage.begin(.noFolder, at: .now)
    }
    return isEmpty
  }

  // MARK: - The salt

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

  // MARK: - The times of the last uses

  /// Writes the times at which entries were last used, in several small transactions. Pending reads run after each
  /// transaction, and record new times for later. Times that could not be written are kept.
  func writeUses(_ index: StoreIndex) throws(SQLiteFailure) {
    var rest = mailbox.uses.withLock { $0.take() }.map { (place: $0.key, time: $0.value) }[...]
    defer { mailbox.uses.withLock { [rest] uses in for use in rest { uses.record(use.place, at: use.time) } } }
    while !rest.isEmpty {
      let some = Array(rest.prefix(max(4, settings.framesPerTransaction / 4)))
      guard try index.holdsLog() else { throw .busy }
      try index.transaction { () throws(SQLiteFailure) in try index.touch(some) }
      rest = rest.dropFirst(some.count)
      pause()
    }
  }
}
