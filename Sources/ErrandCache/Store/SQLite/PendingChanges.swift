import ErrandCore

/// The removals and renewals of ``PendingWrites`` that are not on disk yet. A renewal replaces the head (status, fields
/// and cache data) of an entry.
///
/// Changes that affect a single key or target are found by their digest, so that a lookup does not search all changes.
/// If there are too many changes, further removals are collected in ``CompactRemovals``. The queue then contains one
/// write for all of them. This is correct although the write is older than the latest of these removals: the entries
/// that were put in between are deleted from the queue when their removal is requested, and no renewal is accepted in
/// between.
struct PendingChanges: Sendable {
  typealias Write = PendingWrites.Write
  typealias Numbered = PendingWrites.Numbered

  /// The maximum number of pending changes of single keys and targets that are kept separately.
  static let mostKeyed = 16_384
  /// The maximum number of pending removals by account, host, tag, group or age that are kept separately.
  static let mostBroad = 1_024
  /// The maximum number of entries to displace that are kept separately. It leaves space for removals that a caller
  /// requests, which are recorded separately in the journal.
  static let mostDisplaced = 4_096
  /// The maximum number of pending renewals. If there are more, the new renewals are dropped.
  static let mostRenewals = 1_024

  private let mostBroad: Int
  private let mostOverflow: Int
  private var keyed: [Digest: [Numbered]] = [:]
  private var keyedCount = 0
  private var renewals = 0
  private var displaced = 0
  /// The pending removals that may affect entries under many keys, in the order of their numbers.
  private(set) var broad: [Numbered] = []
  /// The numbers of all pending removals that a caller requested, in ascending order.
  private var removalNumbers: [UInt64] = []
  /// The further removals, and the number of the write in the queue that carries them out.
  private var overflow = CompactRemovals()
  var overflowNumber: UInt64?
  /// The removals from `overflow` that the store's thread carries out now.
  private var takenOverflow = CompactRemovals()
  /// The number of removals that callers requested and that were added to `overflow`. Zero if none of them is pending.
  private(set) var overflowRequests = 0

  /// - Parameters:
  ///   - mostBroad: The maximum number of removals by account, host, tag, group or age that are kept separately.
  ///   - mostOverflow: The maximum size of the removals in ``CompactRemovals``, in bytes.
  init(mostBroad: Int = Self.mostBroad, mostOverflow: Int = CompactRemovals.most) {
    self.mostBroad = mostBroad
    self.mostOverflow = mostOverflow
  }

  // MARK: - Looking

  /// The pending changes that may affect entries under a key, in the order in which they were requested.
  func concerning(_ key: CacheKey) -> [Write] {
    let single = (keyed[key.entry] ?? []) + (keyed[key.target] ?? [])
    guard !single.isEmpty else { return broad.map(\.write) }
    return (single + broad).sorted { $0.number < $1.number }.map(\.write)
  }

  /// The variants of a key that ``CompactRemovals`` remove; nil if they remove none.
  func overflow(_ key: CacheKey) -> CompactRemovals.Variants? {
    switch (overflow.variants(key), takenOverflow.variants(key)) {
    case (nil, let variants), (let variants, nil): variants
    case (.all, _), (_, .all): .all
    case (.one(let variant), let others?), (let others?, .one(let variant)): others.adding(variant)
    case (.several(let variants), .several(let others)): .several(variants.union(others))
    }
  }

  /// The removals by account, host, tag, group and age in ``CompactRemovals``.
  var overflowPurges: [PurgeSet] {
    overflowRequests == 0 ? [] : [overflow.purges, takenOverflow.purges].filter { !$0.isEmpty }
  }

  /// The removals in ``CompactRemovals`` that a caller requested.
  var overflowSelections: [CacheSelection] { overflow.requests + takenOverflow.requests }

  /// The pending removals that a caller requested, in the order of their numbers. The removals in ``CompactRemovals``
  /// are not among them.
  var removals: [Numbered] {
    (keyed.values.joined() + broad).filter { $0.removal != nil }.sorted { $0.number < $1.number }
  }

  /// Whether a pending removal that may affect entries under many keys is carried out after the write with this number.
  func mayFollow(_ number: UInt64) -> Bool {
    (broad.last?.number ?? 0) > number || (overflowNumber ?? 0) > number
  }

  var firstRemoval: UInt64? { removalNumbers.first }
  var lastRemoval: UInt64? { removalNumbers.last }

  /// Whether the limits allow one more change of the same kind as `write`.
  func hasRoom(for write: Write) -> Bool {
    if write.removal == .all { return true }
    if write.isDisplacement, displaced >= Self.mostDisplaced { return false }
    return write.place == nil ? broad.count < mostBroad : keyedCount < Self.mostKeyed
  }

  var hasRoomForRenewal: Bool { renewals < Self.mostRenewals && keyedCount < Self.mostKeyed && overflow.isEmpty }

  /// Whether an equal removal of a single key or target is already pending.
  /// - Parameter taken: The number of the last write that the store's thread has taken from the queue. Only later
  ///   removals are searched.
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
    if change.write.isDisplacement { displaced += 1 }
  }

  /// Adds a removal to ``CompactRemovals``. Returns false if the limit is reached.
  mutating func appendToOverflow(_ write: Write) -> Bool {
    guard overflow.cost < mostOverflow, overflow.insert(write) else { return false }
    if write.removal != nil { overflowRequests += 1 }
    return true
  }

  /// Returns the removals in ``CompactRemovals``, which the store's thread now carries out.
  mutating func takeOverflow() -> CompactRemovals {
    (takenOverflow, overflow, overflowNumber) = (overflow, CompactRemovals(), nil)
    return takenOverflow
  }

  /// Deletes all changes that the store's thread has not taken from the queue yet, and returns their numbers.
  /// - Parameter taken: The number of the last write that the store's thread has taken from the queue.
  mutating func removeAll(after taken: UInt64) -> [UInt64] {
    let removed = (keyed.values.joined() + broad).filter { $0.number > taken }
    forget(removed)
    defer { overflowNumber = nil }
    overflow = CompactRemovals()
    forgetOverflowRequests()
    return removed.map(\.number) + (overflowNumber.map { [$0] } ?? [])
  }

  /// Deletes the changes that have been written to the disk.
  mutating func finish(_ batch: [Numbered]) {
    forget(batch)
    guard batch.contains(where: \.isRemovalOfMany) else { return }
    takenOverflow = CompactRemovals()
    forgetOverflowRequests()
  }

  private mutating func forgetOverflowRequests() {
    if !overflow.hasRequest, !takenOverflow.hasRequest { overflowRequests = 0 }
  }

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
      if change.write.isDisplacement { displaced -= 1 }
    }
    if !wide.isEmpty, !broad.isEmpty { broad.removeAll { wide.contains($0.number) } }
    if !removals.isEmpty { removalNumbers.removeAll { removals.contains($0) } }
  }
}

extension PendingWrites.Write {
  fileprivate var isRenewal: Bool { if case .renew = self { true } else { false } }
  fileprivate var isDisplacement: Bool { if case .displace = self { true } else { false } }

  /// The digest of the single key or target that a change affects. Nil if the change may affect entries under many
  /// keys.
  fileprivate var place: Digest? {
    switch self {
    case .renew(let key, _, _), .displace(let key, _), .remove(.key(let key)), .remove(.variant(let key, _)): key.entry
    case .remove(.target(let target)): target
    case .put, .remove, .removeMany, .barrier: nil
    }
  }

  /// Whether both writes remove the same entries of a single key or target, and have the same cause. There are two
  /// causes: the request of a caller, and an entry that could not be stored.
  fileprivate func removesSame(as other: PendingWrites.Write) -> Bool {
    switch (self, other) {
    case (.remove(let selection), .remove(let same)): selection == same
    case (.displace(let key, let variant), .displace(let same, let sameVariant)):
      key == same && variant == sameVariant
    default: false
    }
  }
}
