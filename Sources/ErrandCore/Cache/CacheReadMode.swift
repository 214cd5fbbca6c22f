/// How one call uses the cache, whatever its request declares about keeping.
public enum CacheReadMode: Sendable, Hashable, CaseIterable {
  /// A fresh answer is served; everything else goes to the server. The default.
  case asDeclared
  /// Nothing is read; the answer is stored. For a pull to refresh.
  case ignoringCache
  /// Nothing is read and nothing is stored.
  case withoutCache
  /// The server is asked whether the stored answer still holds (`Cache-Control: max-age=0`), but for an `immutable`
  /// one that is fresh.
  case revalidating
  /// A stored answer of any age is served, and the server is asked only where there is none.
  case cachedElseLoad
  /// A stored answer is served as declared, and nobody is asked: without one that is fresh the call fails and says
  /// why: ``CacheMiss``.
  case cacheOnly
  /// The same, but the stored answer may be of any age.
  case cacheOnlyAtAnyAge
  /// The server is asked first; where it cannot be reached, a stored answer of any age is served.
  case networkElseCached

  /// Whether nobody is ever asked.
  package var asksNobody: Bool { self == .cacheOnly || self == .cacheOnlyAtAnyAge }
}
