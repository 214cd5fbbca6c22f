import ErrandSupport

/// Remembers removals while exchanges are in progress. An exchange must not store a response that was removed after the
/// exchange began.
///
/// A generation is a number that each removal increments. An exchange registers with the current generation at its
/// lookup, and checks before it stores a response whether a later removal affects that response. A removal is
/// remembered only while an exchange of an earlier generation is in progress.
struct Generations: Sendable {
  /// The maximum number of remembered removals. If there are more, they count as one removal of all entries: the
  /// exchanges in progress then store nothing.
  static let mostRemovals = 16_384

  private var number: UInt64 = 0
  private var removals: [(number: UInt64, selection: CacheSelection)] = []
  /// The number of exchanges in progress for each generation, in ascending order of generations. Usually all exchanges
  /// have the latest generation.
  private var out: [(number: UInt64, count: Int)] = []

  /// Registers a new exchange and returns its generation. Call ``unregister(_:)`` once when the exchange has ended.
  mutating func register() -> UInt64 {
    if out.last?.number == number { out[out.count - 1].count += 1 } else { out.append((number, 1)) }
    return number
  }

  /// Registers one more exchange with a given generation. Call ``unregister(_:)`` once when this exchange has ended.
  mutating func register(with registered: UInt64) {
    if let place = out.lastIndex(where: { $0.number == registered }) {
      out[place].count += 1
    } else {
      out.insert((registered, 1), at: out.firstIndex { $0.number > registered } ?? out.endIndex)
    }
  }

  /// Unregisters an exchange that has ended.
  mutating func unregister(_ registered: UInt64) {
    guard let place = out.lastIndex(where: { $0.number == registered }) else { return }
    out[place].count -= 1
    if out[place].count == 0 { out.remove(at: place) }
    guard !removals.isEmpty else { return }
    let oldest = out.first?.number ?? number
    removals.removeAll { $0.number <= oldest }
  }

  /// Records a removal. If the selection is ``CacheSelection/olderThan(_:)``, its point in time must not be in the
  /// future.
  mutating func advance(_ selection: CacheSelection) {
    number += 1
    guard !out.isEmpty else { return }
    if removals.count < Self.mostRemovals {
      removals.append((number, selection))
    } else {
      removals = [(number, .all)]
    }
  }

  /// An entry that an exchange is about to store: its key, its label, its groups, and the generation with which it is
  /// stored.
  struct Pending: Sendable {
    let key: CacheKey
    let label: CacheEntryLabel
    var groups: [CacheGroup] = []
    var generation: UInt64
  }

  /// Records a removal that the successful response of an exchange causes. The entries that contain this response must
  /// be kept.
  ///
  /// Sets the generations of the entries to the new generation. But if another removal has affected an entry in the
  /// meantime, its generation is not changed, so that the entry is not stored.
  mutating func advance(_ selection: CacheSelection, keeping entries: inout [Pending], received: WallTime) {
    let current = entries.map { entry in
      admits(entry.generation, key: entry.key, label: entry.label, received: received, groups: entry.groups)
    }
    advance(selection)
    for place in entries.indices where current[place] { entries[place].generation = number }
  }

  /// Whether a response of an exchange with this generation, received at the given time, may still be stored.
  /// - Parameter groups: The groups of the response, which are read only if a later removal is remembered.
  func admits(
    _ registered: UInt64, key: CacheKey, label: CacheEntryLabel, received: WallTime,
    groups: @autoclosure () -> [CacheGroup] = []
  ) -> Bool {
    // The numbers are in ascending order.
    guard let first = removals.firstIndex(where: { $0.number > registered }) else { return true }
    let groups = groups()
    return !removals[first...].contains { $0.selection.covers(key, label, received: received, groups: groups) }
  }

  /// The number of removals that are currently remembered.
  var remembered: Int { removals.count }
}

extension CacheSelection {
  /// Returns the selection to record for a removal that happens now. For ``CacheSelection/olderThan(_:)``, a point in
  /// time in the future is replaced by the current time. So the removal does not affect responses that arrive later.
  func happening(at now: () -> WallTime) -> CacheSelection {
    if case .olderThan(let time) = self { .olderThan(min(time, now())) } else { self }
  }

  /// Whether the selection includes an entry that is about to be stored.
  func covers(_ key: CacheKey, _ label: CacheEntryLabel, received: WallTime, groups: [CacheGroup] = []) -> Bool {
    switch self {
    case .all: true
    case .key(let other), .variant(let other, _): key == other
    case .target(let target): key.target == target
    case .account(let account): key.account == account
    case .host(let host): label.host.hasSameBytes(as: host)
    case .tag(let tag): label.tag.hasSameBytes(as: tag)
    case .groups(let removed): !removed.isDisjoint(with: groups)
    case .olderThan(let time): received < time
    }
  }
}
