public import ErrandCore
import ErrandSupport

/// Memory over another store: what is found below is kept above, what is put goes to both.
///
/// Every change goes to the store below first: what is found there afterwards is the new state, and what was found
/// before is not brought up any more once the change has reached the memory. An entry that no disk may have stays
/// above. Another process's removals are not seen by the memory of this one.
public final class TieredStore: CacheStore, LeavingStore {
  /// The store above.
  public let memory: MemoryStore
  /// The store below.
  public let base: any CacheStore
  private let noting: (any UseNoting)?

  /// Puts memory over a store.
  public init(memory: MemoryStore = MemoryStore(), base: any CacheStore) {
    self.memory = memory
    self.base = base
    noting = base as? any UseNoting
  }

  /// The salt of the store below.
  public func salt(call: CallState, patience: Duration?) async -> Digest? {
    await base.salt(call: call, patience: patience)
  }

  /// Looks above, without suspending, then below.
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

  /// An older variant stays below: above it would stand in the way of a newer one that fits as well.
  private func merged(
    _ above: CacheLookup, _ below: CacheLookup, isNewest: Bool, _ stamp: MemoryShelf.Stamp
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

  /// Whether one of them has a response to the same request that belongs to others.
  public func holdsForOthers(_ key: CacheKey, call: CallState, patience: Duration?) async -> Bool {
    if await memory.holdsForOthers(key, call: call, patience: patience) { return true }
    return await base.holdsForOthers(key, call: call, patience: patience)
  }

  /// Whether one of them takes it.
  public func takes(_ entry: CacheEntry) -> Bool { memory.takes(entry) || base.takes(entry) }

  /// Stores an entry in both.
  public func put(_ entry: CacheEntry) {
    var gone: [MemoryShelf.Item] = []
    put(entry, gone: &gone)
  }

  func put(_ entry: CacheEntry, gone: inout [MemoryShelf.Item]) {
    base.put(entry, handing: &gone)
    memory.put(entry, gone: &gone)
  }

  /// Replaces the head in both.
  public func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    var gone: [MemoryShelf.Item] = []
    renew(key, stored: stored, head: head, gone: &gone)
  }

  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, gone: inout [MemoryShelf.Item]) {
    base.renew(key, stored: stored, head: head, handing: &gone)
    memory.renew(key, stored: stored, head: head, gone: &gone)
  }

  /// Removes entries from both. A look-up that is under way below does not bring them up again.
  public func remove(_ selection: CacheSelection) {
    base.remove(selection)
    memory.remove(selection)
  }

  /// The entries of both, most recently used first.
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

  /// The entries and the bytes of the store below, and of what is above alone; and the bound below.
  public func size() async -> CacheSize {
    var size = await base.size()
    let own = memory.memoryOnly
    size.entries += own.entries
    size.bytes += own.bytes
    return size
  }

  /// How far removals have come below: above they are done at once.
  public func removals(call: CallState, patience: Duration) async -> RemovalState {
    await base.removals(call: call, patience: patience)
  }

  /// Returns when the store below has written everything.
  public func flush() async { await base.flush() }
}

/// A store that is told of uses which another one above it has answered.
///
/// What is used most would otherwise look unused below, and be evicted there first.
package protocol UseNoting: CacheStore {
  /// Notes that an entry was used now. Returns at once, and wakes nobody for it.
  func noteUse(_ key: CacheKey, _ variant: Digest)
}

/// A store that hands over what leaves it, for a caller that holds a lock.
///
/// Beside an entry lie values of the app. What they do as they die, such as to clear the cache, must meet no lock.
protocol LeavingStore: CacheStore {
  /// Stores an entry. Whatever it takes the place of goes to `gone`.
  func put(_ entry: CacheEntry, gone: inout [MemoryShelf.Item])

  /// Replaces the head of an entry whose body still holds. Whatever leaves goes to `gone`.
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, gone: inout [MemoryShelf.Item])
}

extension CacheStore {
  /// Stores an entry; what leaves the memory goes to `gone`, if the store keeps values at all.
  func put(_ entry: CacheEntry, handing gone: inout [MemoryShelf.Item]) {
    if let store = self as? any LeavingStore { store.put(entry, gone: &gone) } else { put(entry) }
  }

  /// Replaces a head; what leaves the memory goes to `gone`, if the store keeps values at all.
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, handing gone: inout [MemoryShelf.Item]) {
    guard let store = self as? any LeavingStore else { return renew(key, stored: stored, head: head) }
    store.renew(key, stored: stored, head: head, gone: &gone)
  }
}
