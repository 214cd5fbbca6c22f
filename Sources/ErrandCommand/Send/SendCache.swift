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

/// A store on a disk that a single call waits for.
///
/// Inside a program a busy store costs a hit after 50 ms. Here it has just been opened by this process, and whoever
/// names a folder wants what is in it.
struct PatientStore: CacheStore {
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

  func holdsForOthers(_ key: CacheKey, call: CallState, patience: Duration?) async -> Bool {
    await base.holdsForOthers(key, call: call, patience: patience.map { max($0, Self.patience) })
  }

  func put(_ entry: CacheEntry) { base.put(entry) }

  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) { base.renew(key, stored: stored, head: head) }

  func remove(_ selection: CacheSelection) { base.remove(selection) }

  func list() async -> [CacheListing] { await base.list() }

  func size() async -> CacheSize { await base.size() }

  func flush() async { await base.flush() }

  func removals(call: CallState, patience: Duration) async -> RemovalState {
    await base.removals(call: call, patience: patience)
  }
}
