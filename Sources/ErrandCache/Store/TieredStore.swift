public import ErrandCore
import ErrandSupport

/// A memory store above another store. New entries are stored in both, and entries that are found in the store below
/// are added to the memory.
///
/// Every change is applied first to the store below, then to the memory. So an entry that was read from the store below
/// before a change is not added to the memory after the change. Entries that must not be written to a disk are stored
/// only in memory. If another process removes an entry from the store below, the memory keeps it.
public final class TieredStore: CacheStore, EvictingStore {
  /// The memory store above.
  public let memory: MemoryStore
  /// The store below.
  public let base: any CacheStore
  private let noting: (any UseNoting)?

  /// Makes a store of two tiers.
  public init(memory: MemoryStore = MemoryStore(), base: any CacheStore) {
    self.memory = memory
    self.base = base
    noting = base as? any UseNoting
  }

  /// The salt of the store below.
  public func salt(call: CallState, patience: Duration?) async -> Digest? {
    await base.salt(call: call, patience: patience)
  }

  /// Looks for an entry in memory, which never suspends, and then in the store below.
  public func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    let above = memory.look(key, choosing: choosing, noting: noting)
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

  /// An older variant from the store below is not added to the memory. There it would be found first and hide a newer
  /// variant of the store below that also matches.
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

  /// Whether one of the stores has a response to the same request for another account.
  public func holdsForOthers(_ key: CacheKey, call: CallState, patience: Duration?) async -> Bool {
    if await memory.holdsForOthers(key, call: call, patience: patience) { return true }
    return await base.holdsForOthers(key, call: call, patience: patience)
  }

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

  /// Replaces the head of an entry in both stores.
  public func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    var gone: [MemoryEntries.Item] = []
    renew(key, stored: stored, head: head, gone: &gone)
  }

  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, gone: inout [MemoryEntries.Item]) {
    base.renew(key, stored: stored, head: head, handing: &gone)
    memory.renew(key, stored: stored, head: head, gone: &gone)
  }

  /// Removes entries from both stores. A lookup that is in progress in the store below does not add them to the memory
  /// again.
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

  /// The number and size of all entries: those of the store below and those that are only in memory. The limit is that
  /// of the store below.
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

  /// Returns when the store below has written all entries.
  public func flush() async { await base.flush() }
}

/// A store that is notified when a store above has served one of its entries.
///
/// Without the notification, the entries that are used most would look unused in the store below and would be evicted
/// first.
package protocol UseNoting: CacheStore {
  /// Records that an entry was used now. Returns immediately, and does not wake a thread.
  func noteUse(_ key: CacheKey, _ variant: Digest)
}

/// A store whose methods return evicted items to the caller. The caller holds a lock and releases the items afterwards.
///
/// An item contains decoded values of the app. Their deinitialisers can run any code, for example code that clears the
/// cache, so they must not run under a lock.
protocol EvictingStore: CacheStore {
  /// Stores an entry. Items that it replaces or evicts are appended to `gone`.
  func put(_ entry: CacheEntry, gone: inout [MemoryEntries.Item])

  /// Replaces the head of an entry whose body is still valid. Items that it replaces or evicts are appended to `gone`.
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, gone: inout [MemoryEntries.Item])
}

extension CacheStore {
  /// Stores an entry. If the store holds decoded values, items that leave the memory are appended to `gone`.
  func put(_ entry: CacheEntry, handing gone: inout [MemoryEntries.Item]) {
    if let store = self as? any EvictingStore { store.put(entry, gone: &gone) } else { put(entry) }
  }

  /// Replaces the head of an entry. If the store holds decoded values, items that leave the memory are appended to
  /// `gone`.
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, handing gone: inout [MemoryEntries.Item]) {
    guard let store = self as? any EvictingStore else { return renew(key, stored: stored, head: head) }
    store.renew(key, stored: stored, head: head, gone: &gone)
  }
}
