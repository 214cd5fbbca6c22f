/// What a cache did since it was made.
public struct CacheStatistics: Sendable, Hashable {
  /// Requests that looked something up or would have stored.
  public var requests = 0
  /// Answers served fresh.
  public var freshHits = 0
  /// Answers served though they had expired or their age did not count.
  public var staleHits = 0
  /// Answers that the server confirmed.
  public var revalidated = 0
  /// Answers that came from the server.
  public var network = 0
  /// Entries written.
  public var stored = 0
  /// Bytes of bodies that did not have to be sent.
  public var bytesSaved: Int64 = 0

  /// Makes empty statistics.
  public init() {}

  /// Answers whose body came from the cache.
  public var hits: Int { freshHits + staleHits + revalidated }
}
