import ErrandCore
import Foundation

/// The entries of a ``MemoryStore``. The store guards this value with a lock. Removed items are returned to the caller,
/// so that the caller releases them outside the lock.
///
/// The variants under one key are used and evicted together. Otherwise a newer variant could be evicted while an older
/// variant, which also matches the request, remains and is served.
struct MemoryEntries: Sendable {
  /// The properties of an entry in memory except its key and head.
  struct Item: Sendable {
    let body: Data
    let decoded: DecodedValues
    var cost: Int
    var lastUse: WallTime
    /// The time of the last use of the entry that was reported to the store below the memory store (see
    /// ``TieredStore``).
    var reported: WallTime

    init(body: Data, decoded: DecodedValues, cost: Int, lastUse: WallTime, reported: WallTime? = nil) {
      self.body = body
      self.decoded = decoded
      self.cost = cost
      self.lastUse = lastUse
      self.reported = reported ?? lastUse
    }
  }

  /// The result of a lookup that found an entry.
  struct Use: Sendable {
    let entry: CacheEntry
    /// Whether this use must be reported to the store below the memory store (see ``TieredStore``).
    let mustBeReported: Bool
  }

  /// The variants (responses that differ by `Vary`) under one key, newest first.
  private struct Group: Sendable {
    let key: CacheKey
    var heads: [CacheEntryHead] = []
    var items: [Item] = []
    var cost: Int { items.reduce(0) { $0 + $1.cost } }
  }

  /// A value that differs after each change of the entries under a key. An entry that was found in another store is
  /// added to the memory only if no entry under its key has changed since the lookup in the other store.
  struct Stamp: Sendable, Equatable {
    fileprivate let removals: UInt64
    fileprivate let changes: UInt64
  }

  /// The maximum number of variants under one key. Without a limit, variants would pile up if a server varies on a
  /// field whose value changes with every request.
  static let mostVariants = 32

  let limit: Int
  let entryLimit: Int
  /// The memory store reports uses of an entry to the store below it. This is the minimum time between two reports
  /// about the same entry, in milliseconds.
  let reportInterval: Int64
  private(set) var bytes = 0
  private(set) var entries = 0
  private var groups: [Group?] = []
  private var free: [Int] = []
  private var order = RecencyList()
  private var places: [Digest: Int] = [:]
  private var targets: [Digest: Set<Int>] = [:]
  private var owners = OwnerCounts()
  private var removals: UInt64 = 0
  /// Whether a response that may belong to a group was stored since all entries were removed. Without one, a removal by
  /// groups reads no entry.
  private var mayHaveGroups = false
  private var changes = [UInt64](repeating: 0, count: 64)

  init(limit: Int, entryLimit: Int, reportInterval: Int64 = 60_000) {
    self.limit = limit
    self.reportInterval = reportInterval
    self.entryLimit = min(entryLimit, limit)
  }

  // MARK: - Reading

  func heads(_ key: CacheKey) -> [CacheEntryHead]? {
    places[key.entry].flatMap { groups[$0]?.heads }
  }

  func holdsForOthers(_ anyAccount: Digest, than accounts: [Digest]) -> Bool {
    owners.includeOthers(anyAccount, than: accounts)
  }

  /// Marks the entry at an index of ``heads(_:)`` as used and returns the entry. Nil if the index now belongs to
  /// another entry.
  mutating func use(_ key: CacheKey, _ index: Int, expected: CacheEntryHead, now: WallTime) -> Use? {
    guard let place = places[key.entry], let heads = groups[place]?.heads, heads.indices.contains(index),
      case let head = heads[index], head.variant == expected.variant, head.responseTime == expected.responseTime,
      let item = groups[place]?.items[index]
    else { return nil }
    groups[place]?.items[index].lastUse = now
    // The magnitude of the time is compared. So a report is also due if the clock was set back by a long time.
    let isDue = item.reported.milliseconds(to: now).magnitude >= reportInterval
    if isDue { groups[place]?.items[index].reported = now }
    order.use(place)
    var entry = CacheEntry(key: key, head: head, body: item.body)
    entry.decoded = item.decoded
    return Use(entry: entry, mustBeReported: isDue && !head.isMemoryOnly)
  }

  /// All entries, in no particular order.
  var listings: [CacheListing] {
    groups.flatMap { group in
      guard let group else { return [CacheListing]() }
      return zip(group.heads, group.items).map {
        CacheListing(head: $0, key: group.key, bodyLength: $1.body.count, lastUse: $1.lastUse)
      }
    }
  }

  /// The number and the size of the entries that must not be written to a disk.
  var memoryOnly: (entries: Int, bytes: Int) {
    groups.reduce(into: (0, 0)) { sum, group in
      for (head, item) in zip(group?.heads ?? [], group?.items ?? []) where head.isMemoryOnly {
        sum.0 += 1
        sum.1 += item.cost
      }
    }
  }

  // MARK: - Writing

  func stamp(_ key: CacheKey) -> Stamp {
    Stamp(removals: removals, changes: changes[shard(key)])
  }

  private func shard(_ key: CacheKey) -> Int { Int(key.entry.words.0 >> 58) }

  /// Stores an entry. Items that leave the memory are appended to `gone`. The caller releases these items after it has
  /// released the lock.
  mutating func put(_ key: CacheKey, _ head: CacheEntryHead, _ item: Item, gone: inout [Item]) {
    changes[shard(key)] &+= 1
    if head.mayBeInGroups { mayHaveGroups = true }
    // If the newest response is too large, older responses under its key must not be found either.
    guard item.cost <= entryLimit else { return drop(key, gone: &gone) }
    take(key, head.variant, gone: &gone)
    let place = places[key.entry] ?? open(key)
    let heads = groups[place]?.heads ?? []
    let index = heads.firstIndex { $0.responseTime <= head.responseTime } ?? heads.count
    groups[place]?.heads.insert(head, at: index)
    groups[place]?.items.insert(item, at: index)
    count(1, item.cost)
    order.use(place)
    shrink(sparing: place, gone: &gone)
  }

  /// Stores an entry that was found in another store, unless an entry under its key has changed since `stamp` was read.
  mutating func promote(
    _ key: CacheKey, _ head: CacheEntryHead, _ item: Item, _ stamp: Stamp, gone: inout [Item]
  ) -> Bool {
    guard stamp == self.stamp(key), item.cost <= entryLimit else { return false }
    put(key, head, item, gone: &gone)
    return true
  }

  /// Replaces the head of an entry and keeps its body. Values that were decoded under the old head are released.
  mutating func renew(
    _ key: CacheKey, stored: WallTime, head: CacheEntryHead, decoded: DecodedValues, cost: Int, gone: inout [Item]
  ) {
    changes[shard(key)] &+= 1
    guard let place = places[key.entry], let heads = groups[place]?.heads,
      let index = heads.firstIndex(where: { $0.variant == head.variant && $0.responseTime == stored }),
      let old = groups[place]?.items[index]
    else { return }
    let item = Item(
      body: old.body, decoded: decoded, cost: cost + old.body.count, lastUse: old.lastUse, reported: old.reported)
    put(key, head, item, gone: &gone)
  }

  mutating func remove(_ selection: CacheSelection, gone: inout [Item]) {
    removals &+= 1
    switch selection {
    case .all:
      for place in groups.indices { close(place, gone: &gone) }
      mayHaveGroups = false
    case .key(let key): drop(key, gone: &gone)
    case .variant(let key, let variant): take(key, variant, gone: &gone)
    case .target(let target):
      for place in targets[target] ?? [] { close(place, gone: &gone) }
    case .groups: if mayHaveGroups { sweep(selection, gone: &gone) }
    case .account, .host, .tag, .olderThan: sweep(selection, gone: &gone)
    }
  }

  /// Adds the size of a decoded value to the size of its entry. Returns false if the value is too large or if the entry
  /// no longer exists.
  mutating func grow(_ key: CacheKey, _ decoded: DecodedValues, by cost: Int, gone: inout [Item]) -> Bool {
    guard let place = places[key.entry],
      let index = groups[place]?.items.firstIndex(where: { $0.decoded === decoded }),
      let item = groups[place]?.items[index], cost <= entryLimit - item.cost
    else { return false }
    groups[place]?.items[index].cost += cost
    count(0, cost)
    shrink(sparing: place, gone: &gone)
    return true
  }

  // MARK: - Places

  private mutating func open(_ key: CacheKey) -> Int {
    let place = free.popLast() ?? groups.count
    if place == groups.count { groups.append(nil) }
    groups[place] = Group(key: key)
    places[key.entry] = place
    targets[key.target, default: []].insert(place)
    owners.add(key)
    order.insert(place)
    return place
  }

  private mutating func close(_ place: Int, gone: inout [Item]) {
    guard let group = groups[place] else { return }
    gone += group.items
    count(-group.items.count, -group.cost)
    let key = group.key
    places[key.entry] = nil
    if targets[key.target]?.count == 1 { targets[key.target] = nil } else { targets[key.target]?.remove(place) }
    owners.remove(key)
    order.remove(place)
    groups[place] = nil
    free.append(place)
  }

  private mutating func drop(_ key: CacheKey, gone: inout [Item]) {
    if let place = places[key.entry] { close(place, gone: &gone) }
  }

  private mutating func take(_ key: CacheKey, _ variant: Digest, gone: inout [Item]) {
    guard let place = places[key.entry],
      let index = groups[place]?.heads.firstIndex(where: { $0.variant == variant })
    else { return }
    take(place, index, gone: &gone)
  }

  private mutating func take(_ place: Int, _ index: Int, gone: inout [Item]) {
    guard let count = groups[place]?.items.count, count > 1 else { return close(place, gone: &gone) }
    groups[place]?.heads.remove(at: index)
    guard let item = groups[place]?.items.remove(at: index) else { return }
    gone.append(item)
    self.count(-1, -item.cost)
  }

  private mutating func sweep(_ selection: CacheSelection, gone: inout [Item]) {
    for place in groups.indices {
      guard let group = groups[place] else { continue }
      for index in group.heads.indices.reversed() where selection.picks(group.key, group.heads[index]) {
        take(place, index, gone: &gone)
      }
    }
  }

  /// Evicts entries until no limit is exceeded. The key at `place` always keeps its newest variant. First, its oldest
  /// variants above the maximum number are evicted. Then the least recently used other keys are evicted, each with all
  /// its variants. If that is not enough, further variants of the key at `place` are evicted, oldest first.
  private mutating func shrink(sparing place: Int, gone: inout [Item]) {
    while let count = groups[place]?.items.count, count > Self.mostVariants { take(place, count - 1, gone: &gone) }
    while bytes > limit, let oldest = order.oldest, oldest != place { close(oldest, gone: &gone) }
    while bytes > limit, let count = groups[place]?.items.count, count > 1 { take(place, count - 1, gone: &gone) }
  }

  private mutating func count(_ entries: Int, _ bytes: Int) {
    self.entries += entries
    self.bytes += bytes
  }
}

/// Small integers in the order in which they were last used, as a doubly linked list. Every operation takes constant
/// time.
struct RecencyList: Sendable {
  private static let none = -1
  private var links: [(newer: Int, older: Int)] = []
  private(set) var newest: Int?
  private(set) var oldest: Int?

  /// Inserts a number as the most recently used one. The number must not be in the list.
  mutating func insert(_ place: Int) {
    while links.count <= place { links.append((Self.none, Self.none)) }
    links[place] = (Self.none, newest ?? Self.none)
    if let newest { links[newest].newer = place } else { oldest = place }
    newest = place
  }

  /// Removes a number, which must be in the list.
  mutating func remove(_ place: Int) {
    let (newer, older) = links[place]
    if newer == Self.none { newest = older == Self.none ? nil : older } else { links[newer].older = older }
    if older == Self.none { oldest = newer == Self.none ? nil : newer } else { links[older].newer = newer }
    links[place] = (Self.none, Self.none)
  }

  /// Makes a number the most recently used one.
  mutating func use(_ place: Int) {
    guard newest != place else { return }
    remove(place)
    insert(place)
  }
}
