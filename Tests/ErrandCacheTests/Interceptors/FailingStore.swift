import ErrandCache
import ErrandCore
import ErrandSupport
import ErrandTesting

/// A store in memory whose call with one number fails as stores may fail: it has no salt, finds nothing, or loses an
/// entry. Removals never fail.
final class FailingStore: CacheStore {
  /// The result of a lookup that fails.
  enum Lookup: CaseIterable, Sendable { case missing, damaged, unavailable }

  /// The calls that failed.
  let failed = Recorded<String>()
  private let inner = MemoryStore()
  private let turn: Int
  private let lookup: Lookup
  private let count = Locked(0)

  /// - Parameter turn: The number of the call that fails, from 1.
  init(_ turn: Int, _ lookup: Lookup) {
    self.turn = turn
    self.lookup = lookup
  }

  /// The number of calls so far.
  var calls: Int { count.withLock { $0 } }

  private func fails(_ name: String) -> Bool {
    let number = count.withLock { count in
      count += 1
      return count
    }
    if number == turn { failed.append(name) }
    return number == turn
  }

  func salt(call: CallState, patience: Duration?) async -> Digest? {
    fails("salt") ? nil : await inner.salt(call: call, patience: patience)
  }

  func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    guard fails("find") else {
      return await inner.find(key, choosing: choosing, call: call, patience: patience)
    }
    switch lookup {
    case .unavailable: return .unavailable
    case .missing, .damaged:
      inner.remove(.key(key))
      return lookup == .missing ? .missing : .damaged
    }
  }

  func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool {
    fails("holds") ? false : await inner.holdsForOthers(anyAccount, than: accounts, call: call, patience: patience)
  }

  func put(_ entry: CacheEntry) {
    if fails("put") { inner.remove(.variant(entry.key, entry.head.variant)) } else { inner.put(entry) }
  }

  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    if !fails("renew") { inner.renew(key, stored: stored, head: head) }
  }

  func remove(_ selection: CacheSelection) { inner.remove(selection) }
  func list() async -> [CacheListing] { await inner.list() }
  func size() async -> CacheSize { await inner.size() }
  func flush() async { await inner.flush() }
}
