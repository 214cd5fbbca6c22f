import Errand
import ErrandCache

/// The cache of `errand send`.
enum SendCache {
  /// How many bytes it keeps at most.
  static let limit = 100 << 20

  /// The words for the ways to read, in the order of their teaching.
  static let modes: [(word: String, mode: CacheReadMode)] = [
    ("declared", .asDeclared), ("revalidate", .revalidating), ("ignore", .ignoringCache), ("without", .withoutCache),
    ("cached", .cachedElseLoad), ("offline", .networkElseCached), ("only", .cacheOnly),
  ]

  /// The way to read that a word means.
  static func mode(_ word: String) throws(UsageError) -> CacheReadMode {
    if let found = modes.first(where: { $0.word == word }) { return found.mode }
    throw UsageError("--mode takes one of \(modes.map(\.word).joined(separator: ", ")), not “\(word)”")
  }

  /// Opens the cache that the words ask for; nil where they ask for none.
  static func open(_ options: SendOptions) throws(CacheFolder.Refusal) -> ResponseCache? {
    guard let path = options.cacheFolder else { return nil }
    return ResponseCache(folder: try CacheFolder.made(path).url, limit: limit)
  }
}
