import ErrandCore

/// The puts, renewals and removals that are not on disk yet, in order, and their effect on lookups. A renewal replaces
/// the head (status, fields and cache data) of an entry.
///
/// The methods change only this value. If a later change makes a write unnecessary, the write is deleted before the
/// store's thread carries it out.
struct PendingWrites: Sendable {
  /// One operation for the store's thread.
  enum Write: Sendable {
    case put(CacheEntry)
    case renew(CacheKey, stored: WallTime, head: CacheEntryHead)
    case remove(CacheSelection)
    /// Removes the stored, older version of an entry, because the newer version was dropped. Without a variant, removes
    /// all stored entries under the key: see ``CacheStore/put(_:)``.
    case displace(CacheKey, variant: Digest? = nil)
    /// Carries out many removals. In the queue the value is empty: the removals are in ``PendingChanges`` until the
    /// store's thread takes the write.
    case removeMany(CompactRemovals)
    /// Runs a job after all earlier writes have been carried out.
    case barrier(StoreJob)
  }

  struct Numbered: Sendable {
    let number: UInt64
    let write: Write
  }

  /// The pending writes that affect a lookup of one key.
  struct View: Sendable {
    /// The entries under the key that are not on disk yet.
    var entries: [CacheEntry] = []
    /// The pending renewals and removals that may affect entries under the key, in the order in which they were
    /// requested.
    var changes: [Write] = []
    /// The variants of the key that pending ``CompactRemovals`` remove; nil if they remove none.
    var removed: CompactRemovals.Variants?
    /// The removals by account, host, tag, group and age in pending ``CompactRemovals``.
    var purges: [PurgeSet] = []

    /// The head (status, fields and cache data) that a stored entry has after the pending changes. Nil if a pending
    /// change removes or replaces the entry.
    func head(_ key: CacheKey, _ head: CacheEntryHead) -> CacheEntryHead? {
      if entries.contains(where: { $0.head.variant == head.variant }) { return nil }
      if removed?.contains(head.variant.index) == true { return nil }
      if purges.contains(where: { $0.picks(key, head) }) { return nil }
      var head = head
      for change in changes {
        switch change {
        case .renew(let other, let stored, let new):
          if other == key, stored == head.responseTime, new.variant == head.variant { head = new }
        case .remove(let selection):
          if selection.picks(key, head) { return nil }
        case .displace(let other, let variant):
          if other == key, variant == nil || variant == head.variant { return nil }
        case .put, .removeMany, .barrier: break
        }
      }
      // A renewal may have changed the tag or the time.
      return purges.contains(where: { $0.picks(key, head) }) ? nil : head
    }
  }

  private let limit: Int
  private var queue: [Numbered?] = []
  private var first = 0
  private var nextNumber: UInt64 = 1
  /// The number of the last write that the store's thread has taken from the queue to carry it out.
  private var taken: UInt64 = 0
  private var puts: [Digest: [(number: UInt64, entry: CacheEntry)]] = [:]
  private var owners = OwnerCounts()
  private var changes: PendingChanges
  /// The number of the last removal that is recorded in the journal (see ``RemovalJournal``). The removals up to this
  /// number are carried out even if the process ends.
  private var journaled: UInt64 = 0
  /// The number of requested removals in ``CompactRemovals`` that the journal contains.
  private var journaledRequests = 0
  private(set) var bytes = 0

  init(limit: Int, changes: PendingChanges = PendingChanges()) {
    self.limit = limit
    self.changes = changes
  }

  // MARK: - Looking

  func entries(_ key: CacheKey) -> [CacheEntry] {
    guard !puts.isEmpty, let found = puts[key.entry] else { return [] }
    return found.map(\.entry).sorted { $0.head.responseTime > $1.head.responseTime }
  }

  func view(_ key: CacheKey) -> View {
    View(
      entries: entries(key), changes: changes.concerning(key), removed: changes.overflow(key),
      purges: changes.overflowPurges)
  }

  func hasRoom(for entry: CacheEntry) -> Bool { Self.cost(entry) <= limit - bytes }

  func holdsForOthers(_ anyAccount: Digest, than accounts: [Digest]) -> Bool {
    owners.includeOthers(anyAccount, than: accounts)
  }

  var isEmpty: Bool { first == queue.count }

  // MARK: - Removals

  /// The pending removals that the journal must contain.
  struct Unwritten: Sendable {
    /// The removals in the order in which they were requested.
    var selections: [CacheSelection]
    fileprivate var last: UInt64
    fileprivate var requests: Int
  }

  /// The pending removals for the journal (see ``RemovalJournal``).
  var removals: Unwritten {
    let removals = changes.removals
    return Unwritten(
      selections: removals.compactMap(\.removal) + changes.overflowSelections, last: removals.last?.number ?? 0,
      requests: changes.overflowRequests)
  }

  /// Whether a pending removal may affect entries of several URLs and is not recorded in the journal (see
  /// ``RemovalJournal``).
  var hasUnjournaledPurge: Bool {
    changes.broad.contains { $0.number > journaled && $0.removal?.isPurge == true }
      || changes.overflowRequests > journaledRequests && !changes.overflowPurges.isEmpty
  }

  /// Whether the journal contains a removal that is still pending (see ``RemovalJournal``).
  var hasJournaledRemoval: Bool {
    changes.firstRemoval.map { $0 <= journaled } ?? false || changes.overflowRequests > 0 && journaledRequests > 0
  }

  /// The state of the pending removals: whether they are done, recorded in the journal, or only pending.
  var removalState: RemovalState {
    let overflow: RemovalState =
      changes.overflowRequests == 0 ? .done : changes.overflowRequests > journaledRequests ? .pending : .noted
    return max(changes.lastRemoval.map { $0 > journaled ? .pending : .noted } ?? .done, overflow)
  }

  mutating func recordJournaled(_ removals: Unwritten) {
    journaled = max(journaled, removals.last)
    journaledRequests = removals.requests
  }

  // MARK: - Adding

  /// Adds an entry. If the entry must not be written to a disk, or if too many entries are pending, it is dropped, and
  /// all entries under its key are removed: see ``CacheStore/put(_:)``.
  mutating func put(_ entry: CacheEntry) {
    if entry.head.isMemoryOnly { return remove(.key(entry.key)) }
    let cost = Self.cost(entry)
    guard hasRoom(for: entry) else {
      cancel(.key(entry.key))
      return change(.displace(entry.key))
    }
    cancel(.variant(entry.key, entry.head.variant))
    let number = append(.put(entry))
    setPuts(entry.key, (puts[entry.key.entry] ?? []) + [(number, entry)])
    bytes += cost
  }

  mutating func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    if head.isMemoryOnly { return removeRenewed(key, stored, head) }
    let isThere = { (old: CacheEntryHead) in old.variant == head.variant && old.responseTime == stored }
    if let index = puts[key.entry]?.firstIndex(where: { isThere($0.entry.head) }), let old = puts[key.entry]?[index] {
      let renewed = CacheEntry(key: key, head: head, body: old.entry.body)
      puts[key.entry]?[index].entry = renewed
      if old.number > taken {
        bytes += Self.cost(renewed) - Self.cost(old.entry)
        guard changes.mayFollow(old.number) else { return replace(old.number, .put(renewed)) }
        // The entry is written after the pending removals, because they were requested before the renewal and may
        // select its new tag, groups or time.
        replace(old.number, nil)
        let number = append(.put(renewed))
        puts[key.entry]?[index].number = number
        return
      }
    } else if puts[key.entry]?.contains(where: { $0.entry.head.variant == head.variant }) == true {
      return
    }
    // If the limit is reached, the renewal is dropped. The consequence is only one more validation of the entry later.
    if changes.hasRoomForRenewal { change(.renew(key, stored: stored, head: head)) }
  }

  mutating func remove(_ selection: CacheSelection) {
    cancel(selection)
    if selection == .all { dropChanges() }
    change(.remove(selection))
  }

  mutating func barrier(_ job: @escaping StoreJob) { append(.barrier(job)) }

  /// Removes an entry and the other variants under its key instead of renewing its head, because the new head forbids
  /// storing the entry on a disk. Nothing is removed if the entry has a response time other than `stored`.
  private mutating func removeRenewed(_ key: CacheKey, _ stored: WallTime, _ head: CacheEntryHead) {
    if let pending = puts[key.entry]?.first(where: { $0.entry.head.variant == head.variant }),
      pending.entry.head.responseTime != stored
    {
      return
    }
    remove(.key(key))
  }

  private mutating func change(_ write: Write) {
    if changes.contains(write, after: taken) { return }
    if changes.hasRoom(for: write) { return changes.append(Numbered(number: append(write), write: write)) }
    guard changes.appendToOverflow(write) else { return remove(.all) }
    if changes.overflowNumber == nil { changes.overflowNumber = append(.removeMany(CompactRemovals())) }
  }

  /// Deletes all pending removals and renewals that the store's thread has not taken from the queue yet.
  private mutating func dropChanges() {
    for number in changes.removeAll(after: taken) { replace(number, nil) }
  }

  @discardableResult
  private mutating func append(_ write: Write) -> UInt64 {
    defer { nextNumber += 1 }
    queue.append(Numbered(number: nextNumber, write: write))
    return nextNumber
  }

  /// Makes lookups ignore the selected pending entries. Deletes the entries that the store's thread has not taken from
  /// the queue yet.
  private mutating func cancel(_ selection: CacheSelection) {
    switch selection {
    case .key(let key), .variant(let key, _): cancel(selection, key.entry)
    default: for digest in Array(puts.keys) { cancel(selection, digest) }
    }
  }

  private mutating func cancel(_ selection: CacheSelection, _ digest: Digest) {
    guard let waiting = puts[digest], let key = waiting.first?.entry.key else { return }
    var rest: [(number: UInt64, entry: CacheEntry)] = []
    var dropped: [Digest] = []
    for put in waiting {
      guard selection.picks(key, put.entry.head) else {
        rest.append(put)
        continue
      }
      dropped.append(put.entry.head.variant)
      guard put.number > taken else { continue }
      replace(put.number, nil)
      bytes -= Self.cost(put.entry)
    }
    setPuts(key, rest)
    // The stored entry that a dropped one replaces is out of date, even if its tag or age is not selected.
    if selection.dependsOnHead { for variant in dropped { change(.displace(key, variant: variant)) } }
  }

  private mutating func setPuts(_ key: CacheKey, _ list: [(number: UInt64, entry: CacheEntry)]) {
    let (was, `is`) = (puts[key.entry] != nil, !list.isEmpty)
    puts[key.entry] = `is` ? list : nil
    guard was != `is` else { return }
    if `is` { owners.add(key) } else { owners.remove(key) }
  }

  private mutating func replace(_ number: UInt64, _ write: Write?) {
    let index = queue.count - Int(nextNumber - number)
    guard queue.indices.contains(index) else { return }
    queue[index] = write.map { Numbered(number: number, write: $0) }
  }

  // MARK: - Taking

  /// Takes the next writes from the queue and returns them, at most as many as fit into one transaction. A job that
  /// must run after all earlier writes is returned alone, and so is a removal that needs several transactions.
  mutating func take(most: Int, frames: Int) -> [Numbered] {
    var batch: [Numbered] = []
    var pages = 0
    while first < queue.count, batch.count < most {
      guard let next = queue[first] else {
        first += 1
        continue
      }
      pages += 8
      if case .put(let entry) = next.write { pages += entry.body.count / 4_096 }
      if !batch.isEmpty, next.isAlone || pages > frames { break }
      let write = next.isRemovalOfMany ? .removeMany(changes.takeOverflow()) : next.write
      batch.append(Numbered(number: next.number, write: write))
      taken = next.number
      queue[first] = nil
      first += 1
      if next.isAlone { break }
    }
    compact()
    return batch
  }

  /// Deletes writes that the store's thread has carried out, or no longer tries to carry out after a failure.
  mutating func finish(_ batch: [Numbered]) {
    for done in batch {
      guard case .put(let entry) = done.write else { continue }
      bytes -= Self.cost(entry)
      setPuts(entry.key, puts[entry.key.entry]?.filter { $0.number != done.number } ?? [])
    }
    changes.finish(batch)
    if changes.overflowRequests == 0 { journaledRequests = 0 }
  }

  /// Removes and returns the jobs that wait until earlier writes have been carried out.
  mutating func takeBarriers() -> [StoreJob] {
    var jobs: [StoreJob] = []
    for index in queue.indices {
      guard case .barrier(let job) = queue[index]?.write else { continue }
      jobs.append(job)
      queue[index] = nil
    }
    return jobs
  }

  private mutating func compact() {
    if first == queue.count {
      queue.removeAll(keepingCapacity: queue.count < 1_024)
      first = 0
    } else if first > 1_024 {
      queue.removeFirst(first)
      first = 0
    }
  }

  private static func cost(_ entry: CacheEntry) -> Int { entry.body.count + entry.head.estimatedCost }
}

extension PendingWrites.Numbered {
  /// Whether the write is a batch of its own.
  var isAlone: Bool {
    switch write {
    case .barrier, .removeMany: true
    case .remove(let selection): selection.isPurge && selection != .all
    case .put, .renew, .displace: false
    }
  }
  var isRemovalOfMany: Bool { write.many != nil }
  var removal: CacheSelection? { write.removal }
}

extension PendingWrites.Write {
  /// The entries to remove, if the write is a removal that a caller requested; otherwise nil.
  var removal: CacheSelection? { if case .remove(let selection) = self { selection } else { nil } }

  /// The removals of a write that carries out many of them; nil for other writes.
  var many: CompactRemovals? { if case .removeMany(let removals) = self { removals } else { nil } }

  /// The stored entries that must not be found if the write fails, because they are out of date; nil for other writes.
  var replaced: CacheSelection? {
    switch self {
    case .put(let entry): .key(entry.key)
    case .displace(let key, let variant): .displaced(key, variant)
    case .renew, .remove, .removeMany, .barrier: nil
    }
  }
}

extension CacheSelection {
  /// The entries that ``PendingWrites/Write/displace(_:variant:)`` removes: one variant, or all if it is nil.
  static func displaced(_ key: CacheKey, _ variant: Digest?) -> CacheSelection {
    variant.map { CacheSelection.variant(key, $0) } ?? .key(key)
  }
}
