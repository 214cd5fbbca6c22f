import ErrandCache

/// The removals that Redis must apply as soon as Redis is available again.
///
/// A removal that a caller requested is never dropped: if there are more than ``most`` of them, all entries are removed
/// instead. Another kind of removal concerns an entry whose newer version could not be written. Such a removal is
/// dropped if there are more than ``most`` of them.
struct RedisPendingRemovals: Sendable {
  static let most = 4_096

  private var requested: Set<CacheSelection> = []
  private var replaced: Set<CacheSelection> = []
  private var sweeps: Set<RedisIndex> = []
  private var purges = false

  var isEmpty: Bool { requested.isEmpty && replaced.isEmpty && sweeps.isEmpty && !purges }

  /// Whether a removal that a caller requested has not been completed in Redis.
  var hasRemovals: Bool { !requested.isEmpty || !sweeps.isEmpty || purges }

  /// Records what Redis must remove later, because a change cannot be sent now. For a new entry, this is the entry that
  /// the new entry would have replaced.
  mutating func add(_ write: RedisWrite) {
    switch write {
    case .put(let entry): addReplaced(entry.key, entry.head.variant)
    case .displace(let key, let variant): addReplaced(key, variant)
    case .renew(let key, _, let head): if head.isMemoryOnly { addReplaced(key, head.variant) }
    case .remove(let selection): add(selection)
    case .sweep(let index, _): if sweeps.count < Self.most { sweeps.insert(index) }
    case .purge: purges = true
    case .touch, .drop: break
    }
  }

  private mutating func addReplaced(_ key: CacheKey, _ variant: Digest) {
    guard replaced.count < Self.most, !requested.contains(.all) else { return }
    replaced.insert(.variant(key, variant))
  }

  private mutating func add(_ selection: CacheSelection) {
    guard !requested.contains(.all) else { return }
    requested.insert(selection)
    guard selection == .all || requested.count > Self.most else { return }
    requested = [.all]
    replaced = []
  }

  /// Returns the commands for all recorded removals, and deletes the records.
  mutating func takeAll() -> [RedisWrite] {
    defer { self = RedisPendingRemovals() }
    return requested.map { .remove($0) } + replaced.map { .remove($0) } + sweeps.map { .sweep($0) }
      + (purges ? [.purge(cursor: "0")] : [])
  }
}
