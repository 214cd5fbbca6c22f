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
