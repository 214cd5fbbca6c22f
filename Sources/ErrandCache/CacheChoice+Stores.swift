public import ErrandCore
public import Foundation

extension CacheChoice {
  /// This cache, which several clients may share.
  public static func own(_ cache: ResponseCache) -> CacheChoice { CacheChoice(.own(cache)) }

  /// A memory of this client's own.
  /// - Parameter limit: How many bytes to keep at most.
  public static func memory(limit: Int) -> CacheChoice { .own(ResponseCache(store: MemoryStore(limit: limit))) }

  /// A folder on a disk below a memory. For several clients make one ``ErrandCache/ResponseCache`` and give it to each.
  /// - Parameters:
  ///   - folder: Where to keep it; made where it is missing, private to the user. Several processes may share it.
  ///   - limit: How many bytes everything in the folder may take.
  ///   - memory: How many bytes are kept in memory above it.
  public static func disk(at folder: URL, limit: Int = 100 << 20, memory: Int = 16 << 20) -> CacheChoice {
    .own(ResponseCache(folder: folder, limit: limit, memory: memory))
  }
}
