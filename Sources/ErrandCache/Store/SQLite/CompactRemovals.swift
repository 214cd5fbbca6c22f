import ErrandCore

/// Removals of single keys and targets in little memory, for the time when too many of them wait.
///
/// Only the first eight bytes of each digest are kept. The index on the disk finds its rows by the same bytes.
struct CompactRemovals: Sendable {
  /// The removed variants of one key.
  enum Variants: Sendable, Equatable {
    /// The number of variants of one key above which all of them are removed.
    private static let most = 32

    case all
    case one(Int64)
    case several(Set<Int64>)

    func contains(_ variant: Int64) -> Bool {
      switch self {
      case .all: true
      case .one(let other): other == variant
      case .several(let others): others.contains(variant)
      }
    }

    func adding(_ variant: Int64) -> Variants {
      switch self {
      case .all: .all
      case .one(let other): other == variant ? self : .several([other, variant])
      case .several(let others): others.count < Self.most ? .several(others.union([variant])) : .all
      }
    }
  }

  /// The maximum number of keys and targets, so that they take about 100 MiB at most.
  static let most = 1 << 20

  private(set) var keys: [Int64: Variants] = [:]
  private(set) var targets: Set<Int64> = []
  /// Whether a caller requested one of the removals. The other removals are of entries whose newer versions were
  /// dropped.
  private(set) var hasRequest = false

  var isEmpty: Bool { keys.isEmpty && targets.isEmpty }
  var hasRoom: Bool { keys.count + targets.count < Self.most }

  /// The removed variants of a key; nil if no variant is removed.
  func variants(_ key: CacheKey) -> Variants? {
    targets.contains(key.target.index) ? .all : keys[key.entry.index]
  }

  /// Adds a removal. Returns false if the write is no removal of a single key or target.
  mutating func insert(_ write: PendingWrites.Write) -> Bool {
    switch write {
    case .remove(.key(let key)): keys[key.entry.index] = .all
    case .remove(.variant(let key, let variant)), .displace(let key, let variant):
      keys[key.entry.index] = keys[key.entry.index]?.adding(variant.index) ?? .one(variant.index)
    case .remove(.target(let target)): targets.insert(target.index)
    case .put, .renew, .remove, .removeMany, .barrier: return false
    }
    if write.removal != nil { hasRequest = true }
    return true
  }
}
