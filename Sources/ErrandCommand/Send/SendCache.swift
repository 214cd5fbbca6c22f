import Errand
import ErrandCache

/// The cache of one run of `errand send`.
struct SendCache: Sendable {
  /// The maximum size of the store in bytes.
  static let limit = 100 << 20
  /// The time that a call waits for the store if the store does not respond at once.
  ///
  /// In other programs a call uses the network if the store does not respond within 50 ms. The command waits longer,
  /// because it has just opened the store, and because a user who names a folder expects its contents.
  private static let patience = Duration.seconds(5)

  /// The values of `--mode`, in the order of the help text.
  static let modes: [(word: String, mode: CacheReadMode)] = [
    ("declared", .asDeclared), ("revalidate", .revalidating), ("ignore", .ignoringCache), ("without", .withoutCache),
    ("cached", .cachedElseLoad), ("offline", .networkElseCached), ("only", .cacheOnly), ("stored", .cacheOnlyAtAnyAge),
  ]

  /// The cache mode for a value of `--mode`.
  static func mode(_ word: String) throws(UsageError) -> CacheReadMode {
    if let found = modes.first(where: { $0.word == word }) { return found.mode }
    throw UsageError("--mode needs one of \(modes.map(\.word).joined(separator: ", ")), not “\(word)”")
  }

  /// The cache that the client uses.
  let cache: ResponseCache

  /// Opens the cache in the folder that the options name. Returns nil if the options name no folder.
  init?(_ options: SendOptions) throws(CacheFolder.Refusal) {
    guard let path = options.cacheFolder else { return nil }
    let folder = try CacheFolder.made(path).url
    cache = ResponseCache(store: SQLiteStore(folder: folder, limit: Self.limit, leastPatience: Self.patience))
  }

  /// Cancels background refreshes.
  func interrupt() { cache.cancelRefreshes() }

  /// Waits for background work, such as a refresh, and closes the store.
  func close() async {
    await cache.refreshesEnded()
    await cache.close()
  }
}
