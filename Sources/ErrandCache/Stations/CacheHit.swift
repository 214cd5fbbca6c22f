import ErrandCore

/// The entry behind an answer that was served.
final class CacheHit: StoredHit {
  private let entry: CacheEntry
  private let store: any CacheStore

  init(_ entry: CacheEntry, _ store: any CacheStore) {
    self.entry = entry
    self.store = store
  }

  func value(for rules: DecodedRules) -> (any Sendable)? { entry.decoded?.value(rules) }

  /// The bytes are the best guess at what the value takes.
  func keep(_ value: any Sendable, for rules: DecodedRules) {
    entry.decoded?.keep(value, rules, cost: entry.body.count)
  }

  func refuse() { store.remove(.variant(entry.key, entry.head.variant)) }
}
