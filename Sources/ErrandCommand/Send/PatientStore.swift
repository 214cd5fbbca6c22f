import Errand
import ErrandCache

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
