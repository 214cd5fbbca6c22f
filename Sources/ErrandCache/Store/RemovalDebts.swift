import ErrandCore
import ErrandSupport

/// What has to be removed from a store whose salt is not known yet, so that nobody can say under which digests it lies.
///
/// Where it becomes too much, everything is removed instead.
struct RemovalDebts: Sendable {
  /// Something to remove, by what its digest is made of.
  enum Removal: Sendable, Hashable {
    /// All of an account, as the credential provider names it.
    case account(String)
    /// All that somebody has for a URL, without these arguments.
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
  /// When they became too many.
  private var all: UInt64?

  var isEmpty: Bool { owed.isEmpty && all == nil }

  mutating func add(_ removal: Removal) {
    number += 1
    owed[removal] = number
    guard all != nil || owed.count > Self.most else { return }
    all = number
    owed = [:]
  }

  /// What to remove, now that the salt is known. It stays owed until it is done: who comes meanwhile does it, too.
  func selections(salt: Digest) -> [CacheSelection] {
    all != nil ? [.all] : owed.keys.map { $0.selection(salt: salt) }
  }

  /// Forgets what is done by now.
  /// - Parameter copy: The debts as they were before.
  mutating func settle(_ copy: RemovalDebts) {
    if all == copy.all { all = nil }
    for (removal, number) in copy.owed where owed[removal] == number { owed[removal] = nil }
  }
}

extension RemovalDebts.Removal {
  /// What it means in a store with a salt.
  func selection(salt: Digest) -> CacheSelection {
    switch self {
    case .account(let name): .account(CachePartition.account(name).digest(salt: salt.bytes))
    case .target(let url, let leftOut, let partition):
      .target(
        CacheKeyRecipe(model: .http, leftOut: Array(leftOut), partition: partition, salt: salt.bytes).target(of: url))
    }
  }
}
