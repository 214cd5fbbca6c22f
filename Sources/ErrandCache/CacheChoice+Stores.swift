public import ErrandCore

extension CacheChoice {
  /// This cache, which several clients may share.
  public static func own(_ cache: ResponseCache) -> CacheChoice { CacheChoice(.own(cache)) }

  /// A memory of this client's own.
  /// - Parameter limit: How many bytes to keep at most.
  public static func memory(limit: Int) -> CacheChoice { .own(ResponseCache(store: MemoryStore(limit: limit))) }
}
