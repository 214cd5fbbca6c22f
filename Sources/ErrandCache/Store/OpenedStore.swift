import ErrandCore
import ErrandSupport

/// A store that a cache uses, and what is to be removed from it as soon as its salt is known.
final class OpenedStore: Sendable {
  let store: any CacheStore
  private let debts = Locked(RemovalDebts())

  init(_ store: any CacheStore) { self.store = store }

  /// Whether something waits for the salt.
  var isOwing: Bool { debts.withLock { !$0.isEmpty } }

  /// Notes what to remove before anything is looked for.
  func owe(_ removals: [RemovalDebts.Removal]) {
    debts.withLock { debts in for removal in removals { debts.add(removal) } }
  }

  /// Removes what is owed.
  func pay(salt: Digest, _ remove: (CacheSelection) -> Void) {
    guard let owed = debts.withLock({ $0.isEmpty ? nil : $0 }) else { return }
    for selection in owed.selections(salt: salt) { remove(selection) }
    debts.withLock { $0.settle(owed) }
  }
}
