import ErrandCore

/// The removals and renewals of ``PendingWrites`` that are not on the disk yet.
///
/// Changes of one key or one target are found by its digest, so that a lookup does not read through all of them.
struct PendingChanges: Sendable {
  typealias Write = PendingWrites.Write
  typealias Numbered = PendingWrites.Numbered

  /// If more changes of single keys and targets wait than this, everything is removed instead.
  static let mostKeyed = 65_536
  /// If more removals by account, host, tag or age wait than this, everything is removed instead.
  static let mostBroad = 1_024
  /// If more renewals wait than this, further renewals are dropped.
  static let mostRenewals = 1_024

  private var keyed: [Digest: [Numbered]] = [:]
  private var keyedCount = 0
  private var renewals = 0
  /// Removals of entries under many keys, in order.
  private(set) var broad: [Numbered] = []
  /// The numbers of all removals that a caller asked for, in order.
  private var removalNumbers: [UInt64] = []

  // MARK: - Looking

  /// The changes that may concern entries under a key, in order.
  func concerning(_ key: CacheKey) -> [Write] {
    let single = (keyed[key.entry] ?? []) + (keyed[key.target] ?? [])
    guard !single.isEmpty else { return broad.map(\.write) }
    return (single + broad).sorted { $0.number < $1.number }.map(\.write)
  }

  /// The removals that a caller asked for, in order.
  var removals: [Numbered] {
    (keyed.values.joined() + broad).filter { $0.removal != nil }.sorted { $0.number < $1.number }
  }

  var firstRemoval: UInt64? { removalNumbers.first }
  var lastRemoval: UInt64? { removalNumbers.last }

  /// Whether there is room for one more change.
  func takes(_ write: Write) -> Bool {
    if write.removal == .all { return true }
    return write.place == nil ? broad.count < Self.mostBroad : keyedCount < Self.mostKeyed
  }

  var takesRenewal: Bool { renewals < Self.mostRenewals && keyedCount < Self.mostKeyed }

  /// Whether the same removal of one key or target waits and has a number above `taken`.
  func contains(_ write: Write, after taken: UInt64) -> Bool {
    guard let place = write.place, let waiting = keyed[place] else { return false }
    return waiting.contains { $0.number > taken && $0.write.removesSame(as: write) }
  }

  // MARK: - Changing

  mutating func append(_ change: Numbered) {
    if change.removal != nil { removalNumbers.append(change.number) }
    guard let place = change.write.place else { return broad.append(change) }
    keyed[place, default: []].append(change)
    keyedCount += 1
    if change.write.isRenewal { renewals += 1 }
  }

  /// Forgets all changes above a number and returns their numbers.
  mutating func removeAll(after taken: UInt64) -> [UInt64] {
    let removed = (keyed.values.joined() + broad).filter { $0.number > taken }
    forget(removed)
    return removed.map(\.number)
  }

  /// Forgets the changes that have been written.
  mutating func finish(_ batch: [Numbered]) { forget(batch) }

  private mutating func forget(_ changes: [Numbered]) {
    var removals: Set<UInt64> = []
    var wide: Set<UInt64> = []
    for change in changes {
      if change.removal != nil { removals.insert(change.number) }
      guard let place = change.write.place else {
        wide.insert(change.number)
        continue
      }
      guard var waiting = keyed[place], let index = waiting.firstIndex(where: { $0.number == change.number })
      else { continue }
      waiting.remove(at: index)
      keyed[place] = waiting.isEmpty ? nil : waiting
      keyedCount -= 1
      if change.write.isRenewal { renewals -= 1 }
    }
    if !wide.isEmpty, !broad.isEmpty { broad.removeAll { wide.contains($0.number) } }
    if !removals.isEmpty { removalNumbers.removeAll { removals.contains($0) } }
  }
}

extension PendingWrites.Write {
  fileprivate var isRenewal: Bool { if case .renew = self { true } else { false } }

  /// The digest of the one key or target that a change concerns; nil if it may concern entries under many keys.
  fileprivate var place: Digest? {
    switch self {
    case .renew(let key, _, _), .displace(let key, _), .remove(.key(let key)), .remove(.variant(let key, _)): key.entry
    case .remove(.target(let target)): target
    case .put, .remove, .barrier: nil
    }
  }

  /// Whether both remove the same entries of one key or target, for the same reason.
  fileprivate func removesSame(as other: PendingWrites.Write) -> Bool {
    switch (self, other) {
    case (.remove(let selection), .remove(let same)): selection == same
    case (.displace(let key, let variant), .displace(let same, let sameVariant)):
      key == same && variant == sameVariant
    default: false
    }
  }
}
