/// How one call uses the cache, whatever policy its request declares.
public enum CacheReadMode: Sendable, Hashable, CaseIterable {
  /// A fresh response is served; otherwise the server is asked. The default.
  case asDeclared
  /// Nothing is read; the response is stored. Use it for pull to refresh.
  case ignoringCache
  /// Nothing is read and nothing is stored.
  case withoutCache
  /// The server validates the stored response (`Cache-Control: max-age=0`), except a fresh `immutable` one.
  case revalidating
  /// A stored response of any age is served. The server is asked only if there is none.
  case cachedElseLoad
  /// A stored response is served if the policy allows it, and the server is not asked. Without a fresh response the
  /// call fails and reports a ``CacheMiss``.
  case cacheOnly
  /// A stored response of any age is served, and the server is not asked. Without a stored response the call fails and
  /// reports a ``CacheMiss``.
  case cacheOnlyAtAnyAge
  /// The server is asked first. If it cannot be reached, a stored response of any age is served.
  case networkElseCached

  /// Whether the server is never asked.
  package var asksNobody: Bool { self == .cacheOnly || self == .cacheOnlyAtAnyAge }
}
