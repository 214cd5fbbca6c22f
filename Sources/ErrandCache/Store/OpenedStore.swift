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

/// The removals from a store whose salt (random bytes in every digest) is not known yet. Without the salt, the digests
/// of the entries to remove cannot be computed.
///
/// If the removals take more than 64 MiB, all entries are removed instead.
struct PendingRemovals: Sendable {
  /// A removal that waits for the salt, with the values from which the digest of the entries to remove is computed.
  enum Removal: Sendable, Hashable {
    /// Removes all entries of an account. The value is the name that the credential provider uses for the account.
    case account(ByteText)
    /// Removes all entries for a URL that belong to a partition (the owner of entries). `leftOut` contains the names of
    /// the query arguments that are not part of the key.
    case target(HTTPURL, leftOut: Set<ByteText>, CachePartition)
  }

  /// The maximum size of the removals in bytes.
  private let most: Int
  private var pending: [Removal: UInt64] = [:]
  private var cost = 0
  private var number: UInt64 = 0
  /// The number of the last removal that was added after the limit was exceeded. If the value is not nil, all entries
  /// are removed instead of the selected ones. Nil if the limit was not exceeded.
  private var all: UInt64?

  /// - Parameter most: The maximum size of the removals in bytes. The default is enough for about 200,000 of them.
  init(most: Int = 64 << 20) { self.most = most }

  var isEmpty: Bool { pending.isEmpty && all == nil }

  mutating func add(_ removal: Removal) {
    number += 1
    if pending.updateValue(number, forKey: removal) == nil { cost += removal.cost }
    guard all != nil || cost > most else { return }
    all = number
    (pending, cost) = ([:], 0)
  }

  /// The entries to remove, now that the salt is known. The removals stay recorded until ``settle(_:)`` is called. So a
  /// concurrent lookup also applies the removals.
  func selections(salt: Digest) -> [CacheSelection] {
    all != nil ? [.all] : pending.keys.map { $0.selection(salt: salt) }
  }

  /// Deletes the records of removals that have been applied. Removals that were recorded later stay recorded.
  /// - Parameter copy: A copy of this value from the time before the removals were applied.
  mutating func settle(_ copy: PendingRemovals) {
    if all == copy.all { all = nil }
    for (removal, number) in copy.pending where pending[removal] == number {
      pending[removal] = nil
      cost -= removal.cost
    }
  }
}

extension PendingRemovals.Removal {
  /// The approximate number of bytes that the removal takes in memory.
  var cost: Int {
    switch self {
    case .account(let name): 320 + name.text.utf8.count
    case .target(let url, _, let partition): 320 + url.string.utf8.count + partition.cost
    }
  }

  /// The entries to remove from a store with this salt.
  func selection(salt: Digest) -> CacheSelection {
    switch self {
    case .account(let name): .account(CachePartition.account(name.text).digest(salt: salt.bytes))
    case .target(let url, let leftOut, let partition):
      .target(
        CacheKeyRecipe(model: .http, leftOut: leftOut.map(\.text), partition: partition, salt: salt.bytes)
          .target(of: url))
    }
  }
}
