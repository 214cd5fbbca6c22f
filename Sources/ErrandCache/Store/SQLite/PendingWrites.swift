import ErrandCore

/// What was put, renewed and removed and has not reached the disk, in order, and what it means for a look-up.
///
/// Decides, and performs nothing. Whatever a later change makes needless is taken out before it is written.
struct PendingWrites: Sendable {
  /// One thing for the store's thread to do.
  enum Write: Sendable {
    case put(CacheEntry)
    case renew(CacheKey, stored: WallTime, head: CacheEntryHead)
    case remove(CacheSelection)
    /// Removes the stored version of an entry whose newer version was dropped because the backlog was full.
    case displace(CacheKey, variant: Digest)
    /// Something that waits until all before it is written.
    case barrier(StoreJob)
  }

  struct Numbered: Sendable {
    let number: UInt64
    let write: Write
  }

  /// What a look-up must know of what is not written yet.
  struct View: Sendable {
    /// Entries under the key.
    var entries: [CacheEntry] = []
    /// Renewals and removals, in order.
    var changes: [Write] = []

    /// The head that a stored entry has for this process; nil where it was removed or replaced.
    func head(_ key: CacheKey, _ head: CacheEntryHead) -> CacheEntryHead? {
      if entries.contains(where: { $0.head.variant == head.variant }) { return nil }
      var head = head
      for change in changes {
        switch change {
        case .renew(let other, let stored, let new):
          if other == key, stored == head.responseTime, new.variant == head.variant { head = new }
        case .remove(let selection):
          if selection.picks(key, head) { return nil }
        case .displace(let other, let variant):
          if other == key, head.variant == variant { return nil }
        case .put, .barrier: break
        }
      }
      return head
    }
  }

  private let limit: Int
  private var queue: [Numbered?] = []
  private var first = 0
  private var nextNumber: UInt64 = 1
  /// Everything below it is being written.
  private var taken: UInt64 = 0
  private var puts: [Digest: [(number: UInt64, entry: CacheEntry)]] = [:]
  private var anyAccounts: [Digest: Int] = [:]
  private var changes = PendingChanges()
  /// The last removal that is written down, so that it outlives the process.
  private var noted: UInt64 = 0
  private(set) var bytes = 0

  init(limit: Int) { self.limit = limit }

  // MARK: - Looking

  func entries(_ key: CacheKey) -> [CacheEntry] {
    guard !puts.isEmpty, let found = puts[key.entry] else { return [] }
    return found.map(\.entry).sorted { $0.head.responseTime > $1.head.responseTime }
  }

  func view(_ key: CacheKey) -> View {
    View(entries: entries(key), changes: changes.concerning(key))
  }

  /// Whether the backlog has room for an entry.
  func hasRoom(for entry: CacheEntry) -> Bool { Self.cost(entry) <= limit - bytes }

  func holdsForOthers(_ key: CacheKey) -> Bool {
    anyAccounts[key.anyAccount, default: 0] > (puts[key.entry] == nil ? 0 : 1)
  }

  var isEmpty: Bool { first == queue.count }

  // MARK: - Removals

  /// The removals that wait, in order, and the number of the last one.
  var removals: (selections: [CacheSelection], last: UInt64) {
    let removals = changes.removals
    return (removals.compactMap(\.removal), removals.last?.number ?? 0)
  }

  /// Whether a removal of more than one entry waits that is not written down.
  var hasUnnotedPurge: Bool { changes.broad.contains { $0.number > noted && $0.removal?.isPurge == true } }

  /// Whether a removal that is written down waits.
  var hasNotedRemoval: Bool { changes.firstRemoval.map { $0 <= noted } ?? false }

  /// How far removals have come.
  var removalState: RemovalState {
    changes.lastRemoval.map { $0 > noted ? .pending : .noted } ?? .done
  }

  /// Notes that removals are written down, up to a number.
  mutating func note(upTo number: UInt64) { noted = max(noted, number) }

  // MARK: - Adding

  /// Adds an entry. If the backlog has no room, the entry is dropped and the stored version that it would have replaced
  /// is removed.
  mutating func put(_ entry: CacheEntry) {
    let replaced = CacheSelection.variant(entry.key, entry.head.variant)
    if entry.head.isMemoryOnly { return remove(replaced) }
    let cost = Self.cost(entry)
    guard hasRoom(for: entry) else {
      cancel(replaced)
      return change(.displace(entry.key, variant: entry.head.variant))
    }
    cancel(replaced)
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
        return replace(old.number, .put(renewed))
      }
    } else if puts[key.entry]?.contains(where: { $0.entry.head.variant == head.variant }) == true {
      return
    }
    // A renewal that is dropped costs one more validation.
    if changes.takesRenewal { change(.renew(key, stored: stored, head: head)) }
  }

  mutating func remove(_ selection: CacheSelection) {
    cancel(selection)
    if selection == .all { dropChanges() }
    change(.remove(selection))
  }

  mutating func barrier(_ job: @escaping StoreJob) { append(.barrier(job)) }

  /// The body may not be on the disk any more, if it is the one that was meant.
  private mutating func removeRenewed(_ key: CacheKey, _ stored: WallTime, _ head: CacheEntryHead) {
    if let pending = puts[key.entry]?.first(where: { $0.entry.head.variant == head.variant }),
      pending.entry.head.responseTime != stored
    {
      return
    }
    remove(.variant(key, head.variant))
  }

  private mutating func change(_ write: Write) {
    if changes.contains(write, after: taken) { return }
    guard changes.takes(write) else { return remove(.all) }
    changes.append(Numbered(number: append(write), write: write))
  }

  /// Takes out what has not been begun of all removals and renewals.
  private mutating func dropChanges() {
    for number in changes.removeAll(after: taken) { replace(number, nil) }
  }

  @discardableResult
  private mutating func append(_ write: Write) -> UInt64 {
    defer { nextNumber += 1 }
    queue.append(Numbered(number: nextNumber, write: write))
    return nextNumber
  }

  /// Hides entries that are waiting, and takes those out whose writing has not begun.
  private mutating func cancel(_ selection: CacheSelection) {
    switch selection {
    case .key(let key), .variant(let key, _): cancel(selection, key.entry)
    default: for digest in Array(puts.keys) { cancel(selection, digest) }
    }
  }

  private mutating func cancel(_ selection: CacheSelection, _ digest: Digest) {
    guard let waiting = puts[digest], let key = waiting.first?.entry.key else { return }
    var rest: [(number: UInt64, entry: CacheEntry)] = []
    for put in waiting {
      guard selection.picks(key, put.entry.head) else {
        rest.append(put)
        continue
      }
      guard put.number > taken else { continue }
      replace(put.number, nil)
      bytes -= Self.cost(put.entry)
    }
    setPuts(key, rest)
  }

  private mutating func setPuts(_ key: CacheKey, _ list: [(number: UInt64, entry: CacheEntry)]) {
    let (was, `is`) = (puts[key.entry] != nil, !list.isEmpty)
    puts[key.entry] = `is` ? list : nil
    guard was != `is` else { return }
    let count = anyAccounts[key.anyAccount, default: 0] + (`is` ? 1 : -1)
    anyAccounts[key.anyAccount] = count > 0 ? count : nil
  }

  private mutating func replace(_ number: UInt64, _ write: Write?) {
    let index = queue.count - Int(nextNumber - number)
    guard queue.indices.contains(index) else { return }
    queue[index] = write.map { Numbered(number: number, write: $0) }
  }

  // MARK: - Taking

  /// Takes the next writes, as many as make one transaction; a barrier is taken alone.
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
      if !batch.isEmpty, next.isBarrier || pages > frames { break }
      batch.append(next)
      taken = next.number
      queue[first] = nil
      first += 1
      if next.isBarrier { break }
    }
    compact()
    return batch
  }

  /// Forgets what has been written, or given up.
  mutating func finish(_ batch: [Numbered]) {
    for done in batch {
      guard case .put(let entry) = done.write else { continue }
      bytes -= Self.cost(entry)
      setPuts(entry.key, puts[entry.key.entry]?.filter { $0.number != done.number } ?? [])
    }
    changes.finish(batch)
  }

  /// Takes out the jobs that wait for writes.
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
  var isBarrier: Bool { if case .barrier = write { true } else { false } }
  var removal: CacheSelection? { if case .remove(let selection) = write { selection } else { nil } }
}

extension PendingWrites.Write {
  /// What it removes.
  var removal: CacheSelection? { if case .remove(let selection) = self { selection } else { nil } }

  /// The entry that it replaces.
  var replaced: CacheSelection? {
    switch self {
    case .put(let entry): .variant(entry.key, entry.head.variant)
    case .displace(let key, let variant): .variant(key, variant)
    case .renew, .remove, .barrier: nil
    }
  }
}
