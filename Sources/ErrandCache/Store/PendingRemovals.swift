import ErrandCore
import ErrandSupport

/// The removals from a store whose salt is not known yet. Without the salt, the digests of the entries to remove cannot
/// be computed.
///
/// If there are more than ``most`` removals, all entries are removed instead.
struct PendingRemovals: Sendable {
  /// The values from which the digest of a removal is computed.
  enum Removal: Sendable, Hashable {
    /// All entries of an account, by the name that the credential provider uses.
    case account(String)
    /// All entries of a partition (the owner of entries) for a URL. `leftOut` are the query arguments that are not part
    /// of the key.
    case target(HTTPURL, leftOut: Set<String>, CachePartition)

    static func == (left: Removal, right: Removal) -> Bool {
      switch (left, right) {
      case (.account(let name), .account(let other)): name.hasSameBytes(as: other)
      case (.target(let url, let names, let partition), .target(let otherURL, let otherNames, let other)):
        url == otherURL && names == otherNames && partition == other
      case (.account, _), (.target, _): false
      }
    }

    func hash(into hasher: inout Hasher) {
      switch self {
      case .account(let name): hasher.combine(ByteText(name))
      case .target(let url, _, let partition):
        hasher.combine(url)
        hasher.combine(partition)
      }
    }
  }

  static let most = 1_024

  private var owed: [Removal: UInt64] = [:]
  private var number: UInt64 = 0
  /// The number of the removal with which the limit was exceeded, so that all entries are removed; otherwise nil.
  private var all: UInt64?

  var isEmpty: Bool { owed.isEmpty && all == nil }

  mutating func add(_ removal: Removal) {
    number += 1
    owed[removal] = number
    guard all != nil || owed.count > Self.most else { return }
    all = number
    owed = [:]
  }

  /// The entries to remove, now that the salt is known. The removals stay recorded until ``settle(_:)``, so that a
  /// concurrent lookup applies them, too.
  func selections(salt: Digest) -> [CacheSelection] {
    all != nil ? [.all] : owed.keys.map { $0.selection(salt: salt) }
  }

  /// Deletes the records of removals that have been applied.
  /// - Parameter copy: The records when the removals were started. Removals that were recorded later stay.
  mutating func settle(_ copy: PendingRemovals) {
    if all == copy.all { all = nil }
    for (removal, number) in copy.owed where owed[removal] == number { owed[removal] = nil }
  }
}

extension PendingRemovals.Removal {
  /// The entries to remove from a store with this salt.
  func selection(salt: Digest) -> CacheSelection {
    switch self {
    case .account(let name): .account(CachePartition.account(name).digest(salt: salt.bytes))
    case .target(let url, let leftOut, let partition):
      .target(
        CacheKeyRecipe(model: .http, leftOut: Array(leftOut), partition: partition, salt: salt.bytes).target(of: url))
    }
  }
}
