import Errand
import ErrandCache

/// The cache of one `errand send`.
struct SendCache: Sendable {
  /// How many bytes it keeps at most.
  static let limit = 100 << 20

  /// The words for the ways to read, in the order of their teaching.
  static let modes: [(word: String, mode: CacheReadMode)] = [
    ("declared", .asDeclared), ("revalidate", .revalidating), ("ignore", .ignoringCache), ("without", .withoutCache),
    ("cached", .cachedElseLoad), ("offline", .networkElseCached), ("only", .cacheOnly), ("stored", .cacheOnlyAtAnyAge),
  ]

  /// The way to read that a word means.
  static func mode(_ word: String) throws(UsageError) -> CacheReadMode {
    if let found = modes.first(where: { $0.word == word }) { return found.mode }
    throw UsageError("--mode takes one of \(modes.map(\.word).joined(separator: ", ")), not “\(word)”")
  }

  /// The cache that the client uses.
  let cache: ResponseCache
  private let store: SQLiteStore

  /// Opens the cache that the words ask for; nil where they ask for none.
  init?(_ options: SendOptions) throws(CacheFolder.Refusal) {
    guard let path = options.cacheFolder else { return nil }
    store = SQLiteStore(folder: try CacheFolder.made(path).url, limit: Self.limit)
    cache = ResponseCache(store: PatientStore(base: store))
  }

  /// Ends the background refresh that is under way.
  func interrupt() { cache.cancelRefreshes() }

  /// Waits for what is under way, such as a refresh in the background, and closes the store.
  func close() async {
    await cache.refreshesEnded()
    await store.flush()
    await store.close()
  }
}
