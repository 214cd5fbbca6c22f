import ErrandSupport
public import ErrandCore
import Foundation

/// Stores entries in memory up to a size in bytes, and evicts the least recently used entries first.
///
/// All methods return without suspending. A lookup, a put and an eviction take constant time for any number of entries.
/// Values that were decoded from an entry are kept with the entry. The content is lost when the process ends.
public final class MemoryStore: CacheStore, EvictingStore {
  private let entries: Locked<MemoryEntries>
  private let ownSalt: Digest

  /// Makes an empty store.
  /// - Parameters:
  ///   - limit: The maximum size in bytes. It includes bodies, heads and decoded values, which are estimated.
  ///   - entryLimit: The maximum size of one entry, in bytes; nil for 5 % of the limit.
  public convenience init(limit: Int = 16 << 20, entryLimit: Int? = nil) {
    self.init(limit: limit, entryLimit: entryLimit, salt: .random())
  }

  package init(limit: Int, entryLimit: Int? = nil, salt: Digest, reportInterval: Int64 = 60_000) {
    let limit = max(limit, 0)
    entries = Locked(
      MemoryEntries(limit: limit, entryLimit: max(entryLimit ?? limit / 20, 0), reportInterval: reportInterval))
    ownSalt = salt
  }

  /// The salt of this store: random bytes that are part of every digest. The salt is new in each process.
  public func salt(call: CallState, patience: Duration?) async -> Digest? { ownSalt }

  /// Looks up an entry without suspending.
  public func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    look(key, choosing: choosing)
  }

  /// Looks up an entry. If a report is due, also reports to the store below the memory store that the entry was used.
  package func look(
    _ key: CacheKey, choosing: ([CacheEntryHead]) -> Int?, reportingTo below: (any UseRecording)? = nil
  ) -> CacheLookup {
    while let heads = entries.withLock({ $0.heads(key) }) {
      guard let index = choosing(heads), heads.indices.contains(index) else { return .refused(heads) }
      let now = WallTime.now
      // Nil means that another thread has changed the entry during the selection, so the selection is repeated.
      guard let use = entries.withLock({ $0.use(key, index, expected: heads[index], now: now) }) else { continue }
      if use.mustBeReported { below?.recordUse(key, use.entry.head.variant) }
      return .found(use.entry)
    }
    return .missing
  }

  /// Whether a response to a request is stored for another account than the given ones.
  public func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool {
    entries.withLock { $0.holdsForOthers(anyAccount, than: accounts) }
  }

  /// Whether the entry is not larger than the limit for one entry.
  public func takes(_ entry: CacheEntry) -> Bool { Self.cost(of: entry) <= entries.withLock { $0.entryLimit } }

  private static func cost(of entry: CacheEntry) -> Int { entry.head.estimatedCost + entry.body.count }

  /// Stores an entry, unless it is larger than the limit for one entry.
  public func put(_ entry: CacheEntry) {
    var gone: [MemoryEntries.Item] = []
    put(entry, gone: &gone)
  }

  func put(_ entry: CacheEntry, gone: inout [MemoryEntries.Item]) {
    let item = item(entry)
    change(&gone) { $0.put(entry.key, entry.head, item, gone: &$1) }
  }

  /// Replaces the head (status, fields and cache data) of an entry whose body is still valid.
  public func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    var gone: [MemoryEntries.Item] = []
    renew(key, stored: stored, head: head, gone: &gone)
  }

  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead, gone: inout [MemoryEntries.Item]) {
    let (decoded, cost) = (decodedValues(key), head.estimatedCost)
    change(&gone) { $0.renew(key, stored: stored, head: head, decoded: decoded, cost: cost, gone: &$1) }
  }

  /// Removes entries.
  public func remove(_ selection: CacheSelection) {
    change { $0.remove(selection, gone: &$1) }
  }

  /// The entries, most recently used first.
  public func list() async -> [CacheListing] {
    entries.withLock { $0.listings }.sorted { $0.lastUse > $1.lastUse }
  }

  /// The number of entries, their size in bytes, and the limit of the size.
  public func size() async -> CacheSize {
    entries.withLock { CacheSize(entries: $0.entries, bytes: $0.bytes, limit: $0.limit) }
  }

  /// Returns immediately, because all changes take effect immediately.
  public func flush() async {}

  // MARK: - For the store above

  /// A value that differs after each change of the entries under a key. Read this value before a lookup in another
  /// store, and pass it to ``promote(_:_:)``.
  func stamp(_ key: CacheKey) -> MemoryEntries.Stamp { entries.withLock { $0.stamp(key) } }

  /// Stores an entry that was found in another store, unless an entry under its key has changed since `stamp` was read.
  /// Returns the entry. If it was stored, it is returned with the storage for its decoded values.
  func promote(_ entry: CacheEntry, _ stamp: MemoryEntries.Stamp) -> CacheEntry {
    let item = item(entry)
    guard change({ $0.promote(entry.key, entry.head, item, stamp, gone: &$1) }) else { return entry }
    var entry = entry
    entry.decoded = item.decoded
    return entry
  }

  /// The number of entries that must not be written to a disk, and their size in bytes.
  var memoryOnly: (entries: Int, bytes: Int) { entries.withLock { $0.memoryOnly } }

  // MARK: -

  private func item(_ entry: CacheEntry) -> MemoryEntries.Item {
    MemoryEntries.Item(
      body: entry.body, decoded: decodedValues(entry.key), cost: Self.cost(of: entry), lastUse: .now)
  }

  private func decodedValues(_ key: CacheKey) -> DecodedValues {
    DecodedValues { [weak self] values, cost in
      self?.change { $0.grow(key, values, by: cost, gone: &$1) } ?? false
    }
  }

  /// Changes the entries. Items that are removed are released after the lock has been released.
  @discardableResult
  private func change<Result: Sendable>(_ body: (inout MemoryEntries, inout [MemoryEntries.Item]) -> Result) -> Result {
    var gone: [MemoryEntries.Item] = []
    return change(&gone, body)
  }

  /// Changes the entries. Items that are removed are appended to `gone`.
  @discardableResult
  private func change<Result: Sendable>(
    _ gone: inout [MemoryEntries.Item], _ body: (inout MemoryEntries, inout [MemoryEntries.Item]) -> Result
  ) -> Result {
    let (result, left) = entries.withLock { entries in
      var left: [MemoryEntries.Item] = []
      let result = body(&entries, &left)
      return (result, left)
    }
    gone += left
    return result
  }
}

extension CacheEntryHead {
  /// The estimated memory of the head, including the memory that the store needs to manage it, in bytes.
  var estimatedCost: Int {
    let fields = answer.fields.all.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 32 }
    let vary = vary.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.utf8.count ?? 0) + 32 }
    return 800 + fields + vary + label.url.utf8.count + label.host.utf8.count + (label.tag?.utf8.count ?? 0)
  }
}
