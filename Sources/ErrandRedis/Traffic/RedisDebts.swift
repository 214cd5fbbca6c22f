import ErrandCache

/// What has to be removed from Redis once it can be reached again.
///
/// Removals that somebody asked for are never forgotten: where they become too many, everything is removed instead.
/// What an answer that was not written would have replaced is removed as far as there is room to note it.
struct RedisDebts: Sendable {
  static let most = 4_096

  private var asked: Set<CacheSelection> = []
  private var replaced: Set<CacheSelection> = []
  private var sweeps: Set<RedisIndex> = []
  private var purges = false

  var isEmpty: Bool { asked.isEmpty && replaced.isEmpty && sweeps.isEmpty && !purges }

  /// Whether there is more than what answers would have replaced.
  var hasRemovals: Bool { !asked.isEmpty || !sweeps.isEmpty || purges }

  /// Notes what is left to do of a change that cannot be carried out now.
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
    guard replaced.count < Self.most, !asked.contains(.all) else { return }
    replaced.insert(.variant(key, variant))
  }

  private mutating func add(_ selection: CacheSelection) {
    guard !asked.contains(.all) else { return }
    asked.insert(selection)
    guard selection == .all || asked.count > Self.most else { return }
    asked = [.all]
    replaced = []
  }

  /// Everything that is owed; afterwards nothing is.
  mutating func pay() -> [RedisWrite] {
    defer { self = RedisDebts() }
    return asked.map { .remove($0) } + replaced.map { .remove($0) } + sweeps.map { .sweep($0) }
      + (purges ? [.purge(cursor: "0")] : [])
  }
}
