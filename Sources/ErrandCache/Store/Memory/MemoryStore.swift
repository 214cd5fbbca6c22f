import ErrandSupport
public import ErrandCore
import Foundation

/// Keeps entries in memory, bounded by bytes; the least recently used go first.
///
/// One lock, nothing suspends, and every look-up, put and eviction takes the same time however much is kept. Beside each
/// entry lie the values that were decoded from it. Lost with the process.
public final class MemoryStore: CacheStore, LeavingStore {
  private let shelf: Locked<MemoryShelf>
  private let ownSalt: Digest

  /// Makes an empty store.
  /// - Parameters:
  ///   - limit: How many bytes to keep at most: bodies, heads and decoded values, as estimated.
  ///   - entryLimit: How many bytes one entry may take; nil for 5 % of the limit.
  public convenience init(limit: Int = 16 << 20, entryLimit: Int? = nil) {
    self.init(limit: limit, entryLimit: entryLimit, salt: .random())
  }

  package init(limit: Int, entryLimit: Int? = nil, salt: Digest, noteInterval: Int64 = 60_000) {
    let limit = max(limit, 0)
    shelf = Locked(
      MemoryShelf(limit: limit, entryLimit: max(entryLimit ?? limit / 20, 0), noteInterval: noteInterval))
    ownSalt = salt
  }

  /// What this store mixes into the digests of accounts; another one after each start.
  public func salt(call: CallState, patience: Duration?) async -> Digest? { ownSalt }

  /// Looks for an entry. Returns without suspending.
  public func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    look(key, choosing: choosing)
  }

  /// Looks for an entry, and tells the store below of its use where that is due.
  package func look(
    _ key: CacheKey, choosing: ([CacheEntryHead]) -> Int?, noting below: (any UseNoting)? = nil
  ) -> CacheLookup {
    while let heads = shelf.withLock({ $0.heads(key) }) {
      guard let index = choosing(heads), heads.indices.contains(index) else { return .refused(heads) }
      let now = WallTime.now
      // No entry: somebody changed it while it was chosen. Choose again.
      guard let use = shelf.withLock({ $0.use(key, index, expected: heads[index], now: now) }) else { continue }
      if use.isToBeNoted { below?.noteUse(key, use.entry.head.variant) }
      return .found(use.entry)
    }
    return .missing
  }

  /// Whether the same request has a stored response that belongs to others.
  public func holdsForOthers(_ key: CacheKey, call: CallState, patience: Duration?) async -> Bool {
    shelf.withLock { $0.holdsForOthers(key) }
  }

  /// Whether it is not too large.
  public func takes(_ entry: CacheEntry) -> Bool { Self.cost(of: entry) <= shelf.withLock { $0.entryLimit } }

  private static func cost(of entry: CacheEntry) -> Int { entry.head.estimatedCost + entry.body.count }

  /// Stores an entry, if it is not too large.
  public func put(_ entry: CacheEntry) {
    var gone: [MemoryShelf.Item] = []
    put(entry, gone: &gone)
  }

  func put(_ entry: CacheEntry, gone: inout [MemoryShelf.Item]) {
    let item = item(entry)
    change(&gone) { $0.put(entry.key, entry.head, item, gone: &$1) }
  }

  /// Replaces the head of an entry whose body still holds.
  public func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    var gone: [MemoryShelf.Item] = []
    renew(key, stored: stored, head: head, gone: &gone)
  }

  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, gone: inout [MemoryShelf.Item]) {
    let (decoded, cost) = (decodedValues(key), head.estimatedCost)
    change(&gone) { $0.renew(key, stored: stored, head: head, decoded: decoded, cost: cost, gone: &$1) }
  }

  /// Removes entries.
  public func remove(_ selection: CacheSelection) {
    change { $0.remove(selection, gone: &$1) }
  }

  /// The entries, most recently used first.
  public func list() async -> [CacheListing] {
    shelf.withLock { $0.listings }.sorted { $0.lastUse > $1.lastUse }
  }

  /// How much is kept.
  public func size() async -> CacheSize {
    shelf.withLock { CacheSize(entries: $0.entries, bytes: $0.bytes, limit: $0.limit) }
  }

  /// Returns at once.
  public func flush() async {}

  // MARK: - For the store that stands above

  /// What ``promote(_:_:)`` compares.
  func stamp(_ key: CacheKey) -> MemoryShelf.Stamp { shelf.withLock { $0.stamp(key) } }

  /// Keeps an entry that was found elsewhere, unless something was put, renewed or removed since the stamp was taken.
  /// Returns it as it is kept.
  func promote(_ entry: CacheEntry, _ stamp: MemoryShelf.Stamp) -> CacheEntry {
    let item = item(entry)
    guard change({ $0.promote(entry.key, entry.head, item, stamp, gone: &$1) }) else { return entry }
    var entry = entry
    entry.decoded = item.decoded
    return entry
  }

  /// How many entries no disk may have, and their bytes.
  var memoryOnly: (entries: Int, bytes: Int) { shelf.withLock { $0.memoryOnly } }

  // MARK: -

  private func item(_ entry: CacheEntry) -> MemoryShelf.Item {
    MemoryShelf.Item(
      body: entry.body, decoded: decodedValues(entry.key), cost: Self.cost(of: entry), lastUse: .now)
  }

  private func decodedValues(_ key: CacheKey) -> DecodedValues {
    DecodedValues { [weak self] values, cost in
      self?.change { $0.grow(key, values, by: cost, gone: &$1) } ?? false
    }
  }

  /// Changes the shelf, and releases what left it outside the lock.
  @discardableResult
  private func change<Result: Sendable>(_ body: (inout MemoryShelf, inout [MemoryShelf.Item]) -> Result) -> Result {
    var gone: [MemoryShelf.Item] = []
    return change(&gone, body)
  }

  /// Changes the shelf, and adds what left it to `gone`.
  @discardableResult
  private func change<Result: Sendable>(
    _ gone: inout [MemoryShelf.Item], _ body: (inout MemoryShelf, inout [MemoryShelf.Item]) -> Result
  ) -> Result {
    let (result, left) = shelf.withLock { shelf in
      var left: [MemoryShelf.Item] = []
      let result = body(&shelf, &left)
      return (result, left)
    }
    gone += left
    return result
  }
}

extension CacheEntryHead {
  /// About how many bytes the head and the places that hold it take.
  var estimatedCost: Int {
    let fields = answer.fields.all.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 32 }
    let vary = vary.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.utf8.count ?? 0) + 32 }
    return 800 + fields + vary + label.url.utf8.count + label.host.utf8.count + (label.tag?.utf8.count ?? 0)
  }
}
