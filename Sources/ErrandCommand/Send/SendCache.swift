import Errand
import ErrandCache
import ErrandHTTP

/// The cache of one run of `errand send`.
struct SendCache: Sendable {
  /// The maximum size of the store in bytes.
  static let limit = 100 << 20

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
    let store = SQLiteStore(folder: try CacheFolder.made(path).url, limit: Self.limit)
    cache = ResponseCache(store: LongWaitStore(base: store))
  }

  /// Cancels background refreshes.
  func interrupt() { cache.cancelRefreshes() }

  /// Waits for background work, such as a refresh, and closes the store.
  func close() async {
    await cache.refreshesEnded()
    await cache.close()
  }
}

/// A disk store for which a call waits up to 5 s if the store does not respond at once.
///
/// In other programs a call uses the network if the store does not respond within 50 ms. The command waits longer,
/// because it has just opened the store, and because a user who names a folder expects its contents.
struct LongWaitStore: CacheStore {
  let base: SQLiteStore

  private static let patience = Duration.seconds(5)

  func salt(call: CallState, patience: Duration?) async -> Digest? {
    await base.salt(call: call, patience: patience.map { max($0, Self.patience) })
  }

  func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    await base.find(key, choosing: choosing, call: call, patience: patience.map { max($0, Self.patience) })
  }

  func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool {
    await base.holdsForOthers(anyAccount, than: accounts, call: call, patience: patience.map { max($0, Self.patience) })
  }

  func put(_ entry: CacheEntry) { base.put(entry) }

  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) { base.renew(key, stored: stored, head: head) }

  func remove(_ selection: CacheSelection) { base.remove(selection) }

  func list() async -> [CacheListing] { await base.list() }

  func size() async -> CacheSize { await base.size() }

  func flush() async { await base.flush() }

  func close() async { await base.close() }

  func removals(call: CallState, patience: Duration) async -> RemovalState {
    await base.removals(call: call, patience: patience)
  }
}
