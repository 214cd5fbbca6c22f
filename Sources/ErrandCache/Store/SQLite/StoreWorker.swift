import ErrandCore
import ErrandSupport
import Foundation

/// What runs on the thread of a ``SQLiteStore``: opens the index, answers, writes, and gets over what goes wrong.
///
/// A broken index is emptied and made anew. Where that is not possible, or the folder cannot be used, the store is off
/// for a while and tried again later; removals that could not be done are done before anything is read then. They are
/// written down meanwhile, for whoever opens the folder next.
final class StoreWorker {
  let settings: StoreSettings
  let mailbox: StoreMailbox
  private var index: StoreIndex?
  /// Removals that could not be done.
  private var owed: [CacheSelection] = []
  /// Entries whose newer ones could not be written. They go with what is owed, and where they are many, some stay: an
  /// older answer is no worse than none.
  private var replaced: [CacheSelection] = []
  /// The journal's file that has them, and those that wait.
  private var ownNote: RemovalJournal.Note?
  /// When a folder that took no note is tried again.
  private var noteAfter: MonotonicInstant?
  /// Whether there are such removals, of this process or of others.
  private var owesSomething = false
  /// How often in a row the index could not be used, until when it is not tried, and why.
  private var failures = 0
  private var offUntil: MonotonicInstant?
  private var offReason = SQLiteFailure.noFolder
  private var isReading = false
  /// Whether a removal that waits is to be written down rather than waited for.
  private var notesRemovals = false
  /// Whether what is done now is not worth waiting for another process.
  private var isHasty = false
  /// What is being written, since when another process keeps us from it, and when to try again.
  private var batch: [PendingWrites.Numbered] = []
  private var busySince: MonotonicInstant?
  private var retry: MonotonicInstant?
  /// Whether another process has kept the log too long for a while, as one does that stands still in a read.
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

  /// The salt of the folder; where it cannot be read or made, one of this process.
  func salt() -> Digest {
    if let salt = knownSalt() { return salt.digest }
    let salt = StoreSalt(digest: .random(), isNew: true)
    (ownSalt, isSaltMadeUp) = (salt, true)
    return salt.digest
  }

  /// The salt that this process goes by; the folder's where it has none yet, nil where that cannot be read or made.
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

  /// Runs `body` with the open index, and does what a failure asks for.
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
      // Where nothing can be removed one by one, as on a full disk, everything can be removed at once.
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
    // No read may come in between: it would open the index, too.
    if owesSomething {
      try remove(removals, from: opened, pause: {})
      settle()
    }
    if !replaced.isEmpty, (try? remove(replaced, from: opened, pause: {})) != nil { replaced = [] }
    // Those that stay are carried out again by whoever opens the index next.
    if !others.names.isEmpty, settings.folder.synchronizeLog() {
      settings.folder.journal.removeAbandoned(others.names)
    }
    index = opened
    return opened
  }

  /// Notes that nothing is owed any more.
  private func settle() {
    owed = []
    owesSomething = false
    mailbox.noteRemovals(owed: .done)
    forgetNote()
  }

  /// Takes the note away once all of it is done and on the disk itself; otherwise it is left for the next opening.
  private func forgetNote() {
    guard let ownNote, owed.isEmpty, !mailbox.pending(\.hasNotedRemoval), settings.folder.synchronizeLog()
    else { return }
    settings.folder.journal.remove(ownNote)
    self.ownNote = nil
  }

  /// Writes down what is owed and what waits to be removed, so that it outlives the process.
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

  /// What a removal means on the disk: where the folder's salt could not be read, nobody can tell what the digests of
  /// this process stand for there.
  private func meant(_ selection: CacheSelection) -> CacheSelection {
    isSaltMadeUp && selection.isByDigest ? .all : selection
  }

  /// Makes up for removals that failed.
  private func remove(
    _ selections: [CacheSelection], from index: StoreIndex, pause: () -> Void
  ) throws(SQLiteFailure) {
    try index.transaction { () throws(SQLiteFailure) in for selection in selections { try index.remove(selection) } }
    if selections.contains(where: \.leavesTraces) { try index.giveBack(pause: pause) }
  }

  /// Whether a wait for another process ends: where a read waits for us meanwhile.
  private var givesUp: Bool {
    isHasty || !isReading && (mailbox.hasReads || notesRemovals && mailbox.pending(\.hasUnnotedPurge))
  }

  /// Does what is not worth waiting for another process.
  func hastily(_ body: () -> Void) {
    isHasty = true
    body()
    isHasty = false
  }

  /// Empties the folder, so that the next use finds a new store. False where that did not go, such as while another
  /// process has the store open.
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

  /// Answers those who wait, between two steps of something long.
  func pause() { read(mailbox.takeReads()) }

  /// Notes that an entry was used; written later, since it is of no haste.
  func note(_ use: Int64) {
    if uses.count < 8_192 { uses[use] = .now }
  }

  /// Writes when entries were last used. Those who are answered meanwhile note theirs for the next time.
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

  /// Writes what it takes out of `rest` by and by, so that nobody waits long meanwhile.
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

  /// Writes removals of many entries down at once, and those of single ones after a second.
  private func noteRemovals(afterTryingSince began: MonotonicInstant) {
    guard mayNote else { return }
    let isLong = began.duration(to: .now) > .seconds(1)
    if mailbox.pending(\.hasUnnotedPurge) || isLong && mailbox.pending(\.removalState) == .pending { noteRemovals() }
  }

  /// Whether the folder is tried with a note.
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
    // Somebody took our files away.
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

  /// Whether the log can take entries. Where it cannot, that is waited for; after two seconds they are let go, and
  /// removals alone are carried out.
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

  /// After a failed write nothing may be found that was removed, or that was to be replaced.
  private func salvage() {
    // Where the index cannot be asked, every entry may be there.
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

  /// Notes removals for when the index is opened again, which is before anything is read.
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
