/// How one call uses the cache, whatever policy its request declares.
public enum CacheReadMode: Sendable, Hashable, CaseIterable {
  /// A fresh stored response is served. Without a fresh response, the server is asked. This is the default.
  case asDeclared
  /// The call reads nothing from the cache, but stores the response of the server. Use this mode for pull to refresh.
  case ignoringCache
  /// The call neither reads from the cache nor stores a response.
  case withoutCache
  /// The server validates the stored response (`Cache-Control: max-age=0`). Only a fresh response that the server
  /// marked as `immutable` is served without validation.
  case revalidating
  /// A stored response of any age is served. The server is asked only if no response is stored.
  case cachedElseLoad
  /// A stored response is served if it is fresh, or if the cache policy allows an expired response. The server is not
  /// asked. If no such response is stored, the call fails and reports a ``CacheMiss``.
  case cacheOnly
  /// A stored response of any age is served, and the server is not asked. Without a stored response the call fails and
  /// reports a ``CacheMiss``.
  case cacheOnlyAtAnyAge
  /// The server is asked first. If it cannot be reached, a stored response of any age is served.
  case networkElseCached

  /// True if a call in this mode uses only the cache and sends nothing to the server.
  package var usesOnlyCache: Bool { self == .cacheOnly || self == .cacheOnlyAtAnyAge }
}
