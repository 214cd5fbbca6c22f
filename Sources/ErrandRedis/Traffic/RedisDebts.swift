import ErrandCache

/// The debts of a store: the removals that Redis must apply as soon as it is available again.
///
/// A removal that a caller requested is never dropped: if there are more than ``most``, everything is removed instead.
/// If the newer version of an entry could not be written, the older one is removed; such removals are dropped if there
/// are too many.
struct RedisDebts: Sendable {
  static let most = 4_096

  private var asked: Set<CacheSelection> = []
  private var replaced: Set<CacheSelection> = []
  private var sweeps: Set<RedisIndex> = []
  private var purges = false

  var isEmpty: Bool { asked.isEmpty && replaced.isEmpty && sweeps.isEmpty && !purges }

  /// Whether a caller requested one of the recorded removals.
  var hasRemovals: Bool { !asked.isEmpty || !sweeps.isEmpty || purges }

  /// Records what remains to be done for a change that cannot be sent now.
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

  /// Returns the commands for all recorded work, and deletes the records.
  mutating func pay() -> [RedisWrite] {
    defer { self = RedisDebts() }
    return asked.map { .remove($0) } + replaced.map { .remove($0) } + sweeps.map { .sweep($0) }
      + (purges ? [.purge(cursor: "0")] : [])
  }
}
