import ErrandCore
import ErrandSupport

/// A store that a cache uses, with the removals that wait until the salt of the store is known.
final class OpenedStore: Sendable {
  let store: any CacheStore
  private let debts = Locked(PendingRemovals())

  init(_ store: any CacheStore) { self.store = store }

  /// Whether removals wait for the salt.
  var isOwing: Bool { debts.withLock { !$0.isEmpty } }

  /// Records removals. They are applied before the next lookup in the store.
  func owe(_ removals: [PendingRemovals.Removal]) {
    debts.withLock { debts in for removal in removals { debts.add(removal) } }
  }

  /// Applies the recorded removals.
  func pay(salt: Digest, _ remove: (CacheSelection) -> Void) {
    guard let owed = debts.withLock({ $0.isEmpty ? nil : $0 }) else { return }
    for selection in owed.selections(salt: salt) { remove(selection) }
    debts.withLock { $0.settle(owed) }
  }
}
