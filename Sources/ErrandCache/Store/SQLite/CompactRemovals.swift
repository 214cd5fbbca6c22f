import ErrandCore

/// Removals in little memory, for the time when too many of them wait.
///
/// Of the digests of single keys and targets, only the first eight bytes are kept. The index on the disk finds its rows
/// by the same bytes.
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

    /// The number of variants in a set, which takes more memory than a single one.
    var countInSet: Int { if case .several(let others) = self { others.count } else { 0 } }

    func adding(_ variant: Int64) -> Variants {
      switch self {
      case .all: .all
      case .one(let other): other == variant ? self : .several([other, variant])
      case .several(let others): others.count < Self.most ? .several(others.union([variant])) : .all
      }
    }
  }

  /// The maximum of ``cost``: four million keys, or some hundred thousand tags.
  static let most = 256 << 20
  private static let costOfKey = 64
  private static let costOfVariant = 24

  private(set) var keys: [Int64: Variants] = [:]
  private(set) var targets: Set<Int64> = []
  /// The removals by account, host, tag, group and age.
  private(set) var purges = PurgeSet()
  /// Whether a caller requested one of the removals. The other removals are of entries whose newer versions were
  /// dropped.
  private(set) var hasRequest = false
  private var hasKeyedRequest = false
  private var variantsInSets = 0

  var isEmpty: Bool { keys.isEmpty && targets.isEmpty && purges.isEmpty }
  /// The approximate number of bytes that the removals take.
  var cost: Int {
    (keys.count + targets.count) * Self.costOfKey + variantsInSets * Self.costOfVariant + purges.cost
  }

  /// The removals that a caller requested, for the journal. There are too many single keys and targets, and their whole
  /// digests are not known any more, so they are recorded as a removal of all entries.
  var requests: [CacheSelection] { hasKeyedRequest ? [.all] : purges.selections }

  /// All removals, as the removal of at least the same entries.
  var selections: [CacheSelection] { keys.isEmpty && targets.isEmpty ? purges.selections : [.all] }

  /// The removed variants of a key; nil if no variant is removed.
  func variants(_ key: CacheKey) -> Variants? {
    targets.contains(key.target.index) ? .all : keys[key.entry.index]
  }

  /// Adds a removal. Returns false if the write is no removal, or the removal of all entries.
  mutating func insert(_ write: PendingWrites.Write) -> Bool {
    switch write {
    case .remove(.key(let key)), .displace(let key, .none): set(.all, key)
    case .remove(.variant(let key, let variant)), .displace(let key, .some(let variant)):
      set(keys[key.entry.index]?.adding(variant.index) ?? .one(variant.index), key)
    case .remove(.target(let target)): targets.insert(target.index)
    case .remove(let selection):
      guard purges.insert(selection) else { return false }
      hasRequest = true
      return true
    case .put, .renew, .removeMany, .barrier: return false
    }
    if write.removal != nil { (hasRequest, hasKeyedRequest) = (true, true) }
    return true
  }

  private mutating func set(_ variants: Variants, _ key: CacheKey) {
    let old = keys.updateValue(variants, forKey: key.entry.index)
    variantsInSets += variants.countInSet - (old?.countInSet ?? 0)
  }
}
