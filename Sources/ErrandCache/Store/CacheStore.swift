public import ErrandCore

/// Keeps entries. Implement it to keep them somewhere else; memory, SQLite and both together come with the library.
///
/// No method throws: a store that is broken, full or gone costs hits, never calls. Any thread may call; no method blocks
/// the thread it is called on. Every implementation passes one conformance suite.
public protocol CacheStore: Sendable {
  /// 32 bytes that are mixed into the digests of accounts, so that they tell nothing beside another store.
  ///
  /// Random, and the same for as long as the store lives, on a disk over all processes. After the first time it returns
  /// without suspending. Nil where the call was stopped, where its patience ended, or where nothing can be stored now.
  ///
  /// - Parameters:
  ///   - call: The life of the call: a wait ends with it.
  ///   - patience: How long a store may be waited for, on the call's clock; nil for as long as the call lives.
  func salt(call: CallState, patience: Duration?) async -> Digest?

  /// Looks for an entry.
  ///
  /// - Parameters:
  ///   - key: Whose answers.
  ///   - choosing: Given the heads of all variants under the key, newest first; returns the index of the one to read, or
  ///     nil for none. Runs on the caller's thread or on one of the store's, perhaps more than once; must not block.
  ///   - call: The life of the call: a wait ends with it.
  ///   - patience: How long a store that is busy may be waited for, on the call's clock; nil for as long as the call
  ///     lives.
  func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup

  /// Whether the same request has a stored response that belongs to others: under another ``CacheKey/entry``, with the
  /// same ``CacheKey/anyAccount``. What is stored under the key itself does not count.
  func holdsForOthers(_ key: CacheKey, call: CallState, patience: Duration?) async -> Bool

  /// Stores an entry in place of the one with the same key and variant. Returns at once, written behind; the next
  /// ``find(_:choosing:call:patience:)`` of this process finds it.
  ///
  /// The cache holds a lock meanwhile, so that nothing is stored after its removal: do not call back into the cache.
  func put(_ entry: CacheEntry)

  /// Whether an entry would be kept if it were put now, as far as is known at once: one that is too large is not, nor one
  /// that comes while nothing can be stored. It is put all the same, so that what it replaces goes. Where nobody says
  /// anything else: true. The cache tells of it, and decides nothing by it.
  func takes(_ entry: CacheEntry) -> Bool

  /// Replaces the head of an entry whose body still holds, if it is still the one with this response time.
  ///
  /// The cache holds a lock meanwhile, as for ``put(_:)``: do not call back into the cache.
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead)

  /// Removes entries. What was put before is removed, too, and is not found by anybody who asks after this returned.
  func remove(_ selection: CacheSelection)

  /// The entries, most recently used first.
  func list() async -> [CacheListing]

  /// How much is kept, and where it is bounded.
  func size() async -> CacheSize

  /// Returns when everything that was put or removed before is where it will stay.
  func flush() async

  /// How far what was removed before has come. Where nobody says anything else: ``RemovalState/done``, as in a store
  /// that removes at once. A store around another one asks that one.
  ///
  /// - Parameters:
  ///   - call: A wait ends with it.
  ///   - patience: How long to wait for the store, on the call's clock.
  func removals(call: CallState, patience: Duration) async -> RemovalState
}

extension CacheStore {
  /// Every entry is kept.
  public func takes(_ entry: CacheEntry) -> Bool { true }

  /// All that was removed is gone.
  public func removals(call: CallState, patience: Duration) async -> RemovalState { .done }

  /// The salt, waited for as long as the call lives.
  package func salt(call: CallState) async -> Digest? { await salt(call: call, patience: nil) }
}
