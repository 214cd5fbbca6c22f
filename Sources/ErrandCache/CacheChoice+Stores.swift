public import ErrandCore
public import Foundation

extension CacheChoice {
  /// Uses a given cache, which several clients may share.
  public static func own(_ cache: ResponseCache) -> CacheChoice { CacheChoice(.own(cache)) }

  /// Uses a memory cache that belongs to this client alone.
  /// - Parameter limit: The maximum size in bytes.
  public static func memory(limit: Int) -> CacheChoice { .own(ResponseCache(store: MemoryStore(limit: limit))) }

  /// Uses a disk folder with a memory cache in front of it. To share the folder and the memory cache between clients,
  /// make one ``ErrandCache/ResponseCache`` and give it to each client.
  /// - Parameters:
  ///   - folder: The folder of the cache. It is created if it does not exist, and is private to the user. Several
  ///     processes may share it.
  ///   - limit: The maximum size of everything in the folder, in bytes.
  ///   - memory: The maximum size of the memory cache in front of the folder, in bytes.
  public static func disk(at folder: URL, limit: Int = 100 << 20, memory: Int = 16 << 20) -> CacheChoice {
    .own(ResponseCache(folder: folder, limit: limit, memory: memory))
  }
}
