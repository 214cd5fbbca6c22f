import ErrandCore

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
