/// Where an answer came from.
public enum ResponseOrigin: String, Sendable, Hashable, CaseIterable {
  /// From the server.
  case network
  /// From the cache, fresh: nobody was asked.
  case cacheFresh = "cache-fresh"
  /// From the cache, though it had expired or its age did not count.
  case cacheStale = "cache-stale"
  /// From the cache, after the server said that it still holds (304).
  case revalidated
  /// Made here, and nobody was asked: by an interceptor of the app, or where the cache alone may answer and cannot.
  case local

  /// Whether the body came from the cache.
  public var isFromCache: Bool { self == .cacheFresh || self == .cacheStale || self == .revalidated }
}
