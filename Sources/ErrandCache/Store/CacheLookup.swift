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
