import ErrandCore
import ErrandSupport

/// A store that a cache uses, and the removals that cannot be applied until the salt of the store is known.
final class OpenedStore: Sendable {
  let store: any CacheStore
  private let pendingRemovals = Locked(PendingRemovals())

  init(_ store: any CacheStore) { self.store = store }

  /// Whether removals wait until the salt of the store is known.
  var hasPendingRemovals: Bool { pendingRemovals.withLock { !$0.isEmpty } }

  /// Records removals. They are applied before the next lookup in the store.
  func record(_ removals: [PendingRemovals.Removal]) {
    pendingRemovals.withLock { pending in for removal in removals { pending.add(removal) } }
  }

  /// Applies the recorded removals, now that the salt of the store is known.
  func applyPendingRemovals(salt: Digest, _ remove: (CacheSelection) -> Void) {
    guard let pending = pendingRemovals.withLock({ $0.isEmpty ? nil : $0 }) else { return }
    for selection in pending.selections(salt: salt) { remove(selection) }
    pendingRemovals.withLock { $0.settle(pending) }
  }
}
