public import ErrandCore
import ErrandSupport

/// A memory store above another store. A lookup searches the memory first, then the store below. New entries are stored
/// in both stores, and entries that are found in the store below are added to the memory.
///
/// Every change is applied first to the store below, then to the memory. So an entry that was read from the store below
/// before a change is not added to the memory after the change. Entries that must not be written to a disk are stored
/// only in memory. If another process removes an entry from the store below, the memory keeps it.
public final class TieredStore: CacheStore, EvictingStore, OutageReporting {
  /// The memory store, which is searched first.
  public let memory: MemoryStore
  /// The store below the memory store.
  public let base: any CacheStore
  private let useRecorder: (any UseRecording)?

  /// Makes a store from a memory store and the store below it.
  public init(memory: MemoryStore = MemoryStore(), base: any CacheStore) {
    self.memory = memory
    self.base = base
    useRecorder = base as? any UseRecording
  }

  /// The salt (random bytes that are part of every digest) of the store below.
  public func salt(call: CallState, patience: Duration?) async -> Digest? {
    await base.salt(call: call, patience: patience)
  }

  /// Looks for an entry in memory, which never suspends, and then in the store below.
  public func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    let above = memory.look(key, choosing: choosing, reportingTo: useRecorder)
    if case .found = above { return above }
    let stamp = memory.stamp(key)
    let choice = Locked<Int?>(nil)
    let below = await base.find(
      key,
      choosing: { heads in
        let index = choosing(heads)
        choice.withLock { $0 = index }
        return index
      }, call: call, patience: patience)
    return merged(above, below, isNewest: choice.withLock { $0 } == 0, stamp)
  }

  /// Combines the results of a lookup in both stores. An older variant from the store below is not added to the memory.
  /// Otherwise a lookup would find the older variant in the memory first, although the store below has a newer variant
  /// that also matches.
  private func merged(
    _ above: CacheLookup, _ below: CacheLookup, isNewest: Bool, _ stamp: MemoryEntries.Stamp
  ) -> CacheLookup {
    switch (above, below) {
    case (_, .found(let entry)): .found(isNewest ? memory.promote(entry, stamp) : entry)
    case (.refused(let heads), .refused(let others)):
      .refused(
        (heads + others.filter { other in !heads.contains { $0.variant == other.variant } })
          .sorted { $0.responseTime > $1.responseTime })
    case (.refused, _): above
    case (_, _): below
    }
  }

  /// Whether one of the stores has a response to a request for another account than the given ones.
  public func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool {
    if await memory.holdsForOthers(anyAccount, than: accounts, call: call, patience: patience) { return true }
    return await base.holdsForOthers(anyAccount, than: accounts, call: call, patience: patience)
  }

  var outageCause: String? { (base as? any OutageReporting)?.outageCause }

  /// Whether at least one of the stores would keep the entry.
  public func takes(_ entry: CacheEntry) -> Bool { memory.takes(entry) || base.takes(entry) }

  /// Stores an entry in both stores.
  public func put(_ entry: CacheEntry) {
    var gone: [MemoryEntries.Item] = []
    put(entry, gone: &gone)
  }

  func put(_ entry: CacheEntry, gone: inout [MemoryEntries.Item]) {
    base.put(entry, handing: &gone)
    memory.put(entry, gone: &gone)
  }

  /// Replaces the head (status, fields and cache data) of an entry in both stores.
  public func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    var gone: [MemoryEntries.Item] = []
    renew(key, stored: stored, head: head, gone: &gone)
  }

  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, gone: inout [MemoryEntries.Item]) {
    base.renew(key, stored: stored, head: head, handing: &gone)
    memory.renew(key, stored: stored, head: head, gone: &gone)
  }

  /// Removes entries from both stores. A lookup that is in progress in the store below does not add the removed entries
  /// to the memory again.
  public func remove(_ selection: CacheSelection) {
    base.remove(selection)
    memory.remove(selection)
  }

  /// The entries of both stores, most recently used first.
  public func list() async -> [CacheListing] {
    let above = await memory.list()
    var places: [Place: CacheListing] = [:]
    for listing in await base.list() + above {
      let place = Place(key: listing.key, variant: listing.head.variant)
      if let other = places[place], other.lastUse > listing.lastUse { continue }
      places[place] = listing
    }
    return places.values.sorted { $0.lastUse > $1.lastUse }
  }

  private struct Place: Hashable {
    let key: CacheKey
    let variant: Digest
  }

  /// The number and size of all entries: the entries of the store below, and the entries that are only in memory. The
  /// limit is the limit of the store below.
  public func size() async -> CacheSize {
    var size = await base.size()
    let own = memory.memoryOnly
    size.entries += own.entries
    size.bytes += own.bytes
    return size
  }

  /// The state of removals in the store below. In memory, removals take effect immediately.
  public func removals(call: CallState, patience: Duration) async -> RemovalState {
    await base.removals(call: call, patience: patience)
  }

  /// Waits until the store below has written all entries.
  public func flush() async { await base.flush() }

  /// Closes the store below, and removes all entries from the memory.
  public func close() async {
    await base.close()
    memory.remove(.all)
  }
}

/// A store that is notified when a memory store in front of it has served one of its entries.
///
/// Without the notification, the entries that are used most would look unused in this store and would be evicted first.
package protocol UseRecording: CacheStore {
  /// Records that an entry was used now. Returns immediately, and does not wake a thread.
  func recordUse(_ key: CacheKey, _ variant: Digest)
}

/// A store whose methods return evicted items to the caller. The caller holds a lock, and releases the items after it
/// has released the lock.
///
/// An item contains decoded values of the app. Their deinitialisers can run any code, for example code that clears the
/// cache, so they must not run under a lock.
protocol EvictingStore: CacheStore {
  /// Stores an entry. Items that the store replaces or evicts are appended to `gone`.
  func put(_ entry: CacheEntry, gone: inout [MemoryEntries.Item])

  /// Replaces the head (status, fields and cache data) of an entry whose body is still valid. Items that the store
  /// replaces or evicts are appended to `gone`.
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, gone: inout [MemoryEntries.Item])
}

extension CacheStore {
  /// Stores an entry. If the store keeps decoded values, items that leave the memory are appended to `gone`.
  func put(_ entry: CacheEntry, handing gone: inout [MemoryEntries.Item]) {
    if let store = self as? any EvictingStore { store.put(entry, gone: &gone) } else { put(entry) }
  }

  /// Replaces the head of an entry. If the store keeps decoded values, items that leave the memory are appended to
  /// `gone`.
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, handing gone: inout [MemoryEntries.Item]) {
    guard let store = self as? any EvictingStore else { return renew(key, stored: stored, head: head) }
    store.renew(key, stored: stored, head: head, gone: &gone)
  }
}
