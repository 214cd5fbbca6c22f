public import ErrandCore

/// Stores cache entries. Implement this protocol to store entries in a system of your own. The library contains a store
/// in memory, a store in SQLite, and a store that combines both.
///
/// No method throws: if a store is broken, full or unavailable, more responses have to be loaded from the server, but
/// no call fails. The methods may be called on any thread and must not block it. Every implementation must pass the
/// conformance suite for stores.
public protocol CacheStore: Sendable {
  /// Returns the salt of the store: 32 random bytes that are part of all digests in a ``CacheKey``. The salt ensures
  /// that digests of different stores cannot be compared.
  ///
  /// The salt stays the same as long as the store exists. For a store on a disk it is the same in all processes. As
  /// soon as the salt is known, this method returns without suspending. The result is nil if the call was stopped, if
  /// the time `patience` ended, or if nothing can be stored now.
  ///
  /// - Parameters:
  ///   - call: The state of the call. The wait ends when the call ends.
  ///   - patience: The time to wait for the store, on the clock of the call; nil for as long as the call lasts.
  func salt(call: CallState, patience: Duration?) async -> Digest?

  /// Looks up an entry.
  ///
  /// - Parameters:
  ///   - key: The key of the entry.
  ///   - choosing: Receives the heads of all variants under the key, newest first. Returns the index of the variant to
  ///     read, or nil for none. May be called on the caller's thread or on a thread of the store, and more than once.
  ///     It must not block.
  ///   - call: The state of the call. The wait ends when the call ends.
  ///   - patience: The time to wait for a busy store, on the clock of the call; nil for as long as the call lasts.
  func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup

  /// Whether a response to a request is stored for another account. The key of such an entry has the given
  /// ``CacheKey/anyAccount``, but none of the given values of ``CacheKey/account``.
  func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool

  /// Stores an entry. It replaces an existing entry with an equal key and variant. Returns immediately and writes in
  /// the background; the next ``find(_:choosing:call:patience:)`` of this process finds the entry.
  ///
  /// If the store cannot keep the entry, for example because it is too large, it removes all entries with an equal key:
  /// an older variant may match the same requests, because `Vary` may have changed, and must not be found instead.
  ///
  /// The cache holds a lock while it calls this method, so that an entry is never stored after its removal. So this
  /// method must not call the cache.
  func put(_ entry: CacheEntry)

  /// Whether the store would keep an entry that is put now, as far as is known without waiting. The result is false if
  /// the entry is too large, and if nothing can be stored now. The cache uses the result only for its reports. It puts
  /// the entry even if the result is false, so that the store removes the older entries under its key. The default
  /// implementation returns true.
  func takes(_ entry: CacheEntry) -> Bool

  /// Replaces the head (status, fields and cache data) of an entry whose body is still valid. Has no effect if the
  /// entry no longer has the response time `stored`.
  ///
  /// The cache holds a lock while it calls this method, as for ``put(_:)``. So this method must not call the cache.
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead)

  /// Removes entries, including entries that were put but are not written yet. A lookup that starts after this method
  /// has returned does not find the removed entries.
  func remove(_ selection: CacheSelection)

  /// Lists all entries, most recently used first.
  func list() async -> [CacheListing]

  /// The number of entries, their size in bytes, and the limit of the size.
  func size() async -> CacheSize

  /// Waits until all earlier puts and removals have been carried out.
  func flush() async

  /// Waits until all earlier puts and removals have been carried out, and releases the threads, files and connections
  /// of the store. Do not use a closed store: it may find nothing and store nothing, but no call fails. The default
  /// implementation calls ``flush()``, for stores that hold no such resources. A store that wraps another store should
  /// close the wrapped store.
  func close() async

  /// The state of all earlier removals. The default implementation returns ``RemovalState/done``, for stores that
  /// remove entries immediately. A store that wraps another store should return the state of the wrapped store.
  ///
  /// - Parameters:
  ///   - call: The state of the call. The wait ends when the call ends.
  ///   - patience: The time to wait for the store, on the clock of the call.
  func removals(call: CallState, patience: Duration) async -> RemovalState
}

extension CacheStore {
  /// Returns true. This default is for stores that keep every entry.
  public func takes(_ entry: CacheEntry) -> Bool { true }

  /// Calls ``flush()``. This default is for stores that hold no threads, files or connections.
  public func close() async { await flush() }

  /// Returns ``RemovalState/done``. This default is for stores that remove entries immediately.
  public func removals(call: CallState, patience: Duration) async -> RemovalState { .done }

  /// Returns the salt of the store. Waits for the store as long as the call lasts.
  package func salt(call: CallState) async -> Digest? { await salt(call: call, patience: nil) }
}

/// A store that can report why it is unavailable.
protocol OutageReporting: CacheStore {
  /// The cause for which the store could not be used at the last lookup that it has done, such as `No space left on
  /// device`. Nil if the store could be used.
  var outageCause: String? { get }
}

/// The result of a lookup in a store.
public enum CacheLookup: Sendable {
  /// The lookup found and selected this entry.
  case found(CacheEntry)
  /// There are entries under the key, with these heads, but the caller selected none of them.
  case refused([CacheEntryHead])
  /// There is no entry under the key.
  case missing
  /// The entry was damaged and has been removed.
  case damaged
  /// The store is closed, broken, or was busy for too long.
  case unavailable
}

/// One entry in the list of a store's entries.
public struct CacheListing: Sendable {
  /// The status, the fields and the cache data of the response: everything except the body.
  public let head: CacheEntryHead
  /// The key of the entry.
  public let key: CacheKey
  /// The length of the body, in bytes.
  public let bodyLength: Int
  /// The time at which the entry was last read or written.
  public let lastUse: WallTime

  /// Makes a listing from its properties.
  public init(head: CacheEntryHead, key: CacheKey, bodyLength: Int, lastUse: WallTime) {
    self.head = head
    self.key = key
    self.bodyLength = bodyLength
    self.lastUse = lastUse
  }
}

/// The size of a store.
public struct CacheSize: Sendable, Hashable {
  /// The number of stored entries.
  public var entries: Int
  /// The number of bytes that the store uses. For a store on a disk, this is the size of all files in its folder,
  /// including the index.
  public var bytes: Int
  /// The maximum size in bytes; nil if the store sets no limit.
  public var limit: Int?

  /// Makes a size from its properties.
  public init(entries: Int, bytes: Int, limit: Int?) {
    self.entries = entries
    self.bytes = bytes
    self.limit = limit
  }
}

/// The state of removals from a store. A store may be unable to remove entries at the moment.
public enum RemovalState: Sendable, Hashable, CaseIterable, Comparable {
  /// All entries that were selected for removal are deleted.
  case done
  /// The removal is recorded in the store, and this process does not find the entries any more. The next process that
  /// opens the store deletes the entries before it reads.
  ///
  /// A process that already has the store open does not see the record of the removal, so it may find the entries until
  /// it opens the store again.
  case noted
  /// This process does not find the entries any more, but the entries are still in the store. They are found again if
  /// the process ends before the store can be written to.
  case pending
}
