import ErrandCache
import ErrandCore
import ErrandSupport
import ErrandTesting

/// A store that holds a result at a latch, so that a test can act between a lookup and its use. It can also be
/// unavailable at first, and then has no salt.
final class SlowStore: CacheStore {
  private let inner: any CacheStore
  private let latches = Recorded<Latch>()
  private let saltLatches = Recorded<Latch>()
  private let isThere: Locked<Bool>

  init(_ inner: any CacheStore, isThere: Bool = true) {
    self.inner = inner
    self.isThere = Locked(isThere)
  }

  /// Makes the store available.
  func come() { isThere.withLock { $0 = true } }

  /// Holds the result of the next lookup.
  func holdNext(at latch: Latch) { latches.append(latch) }

  /// Holds the next request for the salt.
  func holdNextSalt(at latch: Latch) { saltLatches.append(latch) }

  func salt(call: CallState, patience: Duration?) async -> Digest? {
    await saltLatches.takeFirst()?.waitStubbornly()
    return isThere.withLock { $0 } ? await inner.salt(call: call, patience: patience) : nil
  }

  func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    let found = await inner.find(key, choosing: choosing, call: call, patience: patience)
    await latches.takeFirst()?.waitStubbornly()
    return found
  }

  func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool {
    await inner.holdsForOthers(anyAccount, than: accounts, call: call, patience: patience)
  }

  func put(_ entry: CacheEntry) { inner.put(entry) }
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) { inner.renew(key, stored: stored, head: head) }
  func remove(_ selection: CacheSelection) { inner.remove(selection) }
  func list() async -> [CacheListing] { await inner.list() }
  func size() async -> CacheSize { await inner.size() }
  func flush() async { await inner.flush() }
}
