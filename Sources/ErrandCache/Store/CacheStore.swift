public import ErrandCore

/// Keeps entries. Implement it to keep them somewhere else; memory, SQLite and both together come with the library.
///
/// No method throws: a store that is broken, full or gone costs hits, never calls. Any thread may call; no method blocks
/// the thread it is called on. Every implementation passes one conformance suite.
public protocol CacheStore: Sendable {
  /// Looks for an entry.
  ///
  /// - Parameters:
  ///   - key: Whose answers.
  ///   - choosing: Given the heads of all variants under the key, newest first; returns the index of the one to read, or
  ///     nil for none. Runs on a thread of the store's.
  ///   - call: The life of the call: a wait ends with it.
  ///   - patience: How long a store that is busy may be waited for, on the call's clock; nil for as long as the call
  ///     lives.
  func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup

  /// Whether anything is stored under the digest without the account.
  func holds(anyAccount: Digest, call: CallState, patience: Duration?) async -> Bool

  /// Stores an entry in place of the one with the same key and variant. Returns at once, written behind; the next
  /// ``find(_:choosing:call:patience:)`` of this process finds it.
  func put(_ entry: CacheEntry)

  /// Replaces the head of an entry whose body still holds, if it is still the one with this response time.
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead)

  /// Removes entries. What was put before is removed, too, and is not found by anybody who asks after this returned.
  func remove(_ selection: CacheSelection)

  /// The entries, most recently used first.
  func list() async -> [CacheListing]

  /// How much is kept, and where it is bounded.
  func size() async -> CacheSize

  /// Returns when everything that was put or removed before is where it will stay.
  func flush() async
}

/// What a look-up found.
public enum CacheLookup: Sendable {
  /// The entry that was chosen.
  case found(CacheEntry)
  /// Entries are there, and none was chosen.
  case refused([CacheEntryHead])
  /// Nothing is there.
  case missing
  /// Something was there, was damaged and has been removed.
  case damaged
  /// The store is closed, broken, or was busy for too long.
  case unavailable
}

/// Which entries to remove.
public enum CacheSelection: Sendable, Hashable {
  /// All of them.
  case all
  /// All variants under one key.
  case key(CacheKey)
  /// One variant.
  case variant(CacheKey, Digest)
  /// Everything for one URL and one account: see ``CacheKey/target``.
  case target(Digest)
  /// Everything of one account: see ``CacheKey/account``.
  case account(Digest)
  /// Everything from one host, in lower case.
  case host(String)
  /// Everything that calls with this tag stored.
  case tag(String)
  /// Everything received before a moment.
  case olderThan(WallTime)
}

/// One entry in a list.
public struct CacheListing: Sendable {
  /// All that is known of it but the body.
  public let head: CacheEntryHead
  /// The key.
  public let key: CacheKey
  /// The body's length in bytes.
  public let bodyLength: Int
  /// When it was last read or written.
  public let lastUse: WallTime

  /// Makes a listing.
  public init(head: CacheEntryHead, key: CacheKey, bodyLength: Int, lastUse: WallTime) {
    self.head = head
    self.key = key
    self.bodyLength = bodyLength
    self.lastUse = lastUse
  }
}

/// How much a store keeps.
public struct CacheSize: Sendable, Hashable {
  /// The number of entries.
  public var entries: Int
  /// Bytes in use; on a disk everything in the folder, the index too.
  public var bytes: Int
  /// The bound in bytes; nil for none of its own.
  public var limit: Int?

  /// Makes a size.
  public init(entries: Int, bytes: Int, limit: Int?) {
    self.entries = entries
    self.bytes = bytes
    self.limit = limit
  }
}
