import ErrandSupport

/// What was removed while exchanges were under way, so that none of them stores what is old by then.
///
/// An exchange notes the generation as it looks up, and asks before it stores. What was removed is remembered only as
/// long as an exchange is out that noted an earlier generation.
struct Generations: Sendable {
  private var number: UInt64 = 0
  private var removals: [(number: UInt64, selection: CacheSelection)] = []
  /// How many exchanges are out of each generation, in order; mostly all are of the last one.
  private var out: [(number: UInt64, count: Int)] = []

  /// Notes the generation of an exchange that begins. Each is given back once, by ``giveBack(_:)``.
  mutating func note() -> UInt64 {
    if out.last?.number == number { out[out.count - 1].count += 1 } else { out.append((number, 1)) }
    return number
  }

  /// Notes one more exchange of a generation that is out. It is given back once, too.
  mutating func note(of noted: UInt64) {
    if let place = out.lastIndex(where: { $0.number == noted }) {
      out[place].count += 1
    } else {
      out.insert((noted, 1), at: out.firstIndex { $0.number > noted } ?? out.endIndex)
    }
  }

  /// The exchange is over.
  mutating func giveBack(_ noted: UInt64) {
    guard let place = out.lastIndex(where: { $0.number == noted }) else { return }
    out[place].count -= 1
    if out[place].count == 0 { out.remove(at: place) }
    guard !removals.isEmpty else { return }
    let oldest = out.first?.number ?? number
    removals.removeAll { $0.number <= oldest }
  }

  /// Something is removed.
  mutating func advance(_ selection: CacheSelection) {
    number += 1
    if !out.isEmpty { removals.append((number, selection)) }
  }

  /// Something is removed by the success of an exchange whose own answer outlives it.
  ///
  /// Returns the generation in which that answer counts: the new one, unless somebody else removed it before.
  mutating func advance(
    _ selection: CacheSelection, from noted: UInt64, keeping key: CacheKey, _ label: CacheEntryLabel
  ) -> UInt64 {
    let isCurrent = admits(noted, key: key, label: label)
    advance(selection)
    return isCurrent ? number : noted
  }

  /// Whether an answer may still be stored that was asked for in a generation.
  func admits(_ noted: UInt64, key: CacheKey, label: CacheEntryLabel) -> Bool {
    !removals.contains { $0.number > noted && $0.selection.covers(key, label) }
  }

  /// The number of removals that are remembered.
  var remembered: Int { removals.count }
}

extension CacheSelection {
  /// Whether an entry that is about to be stored would be among those that are removed.
  func covers(_ key: CacheKey, _ label: CacheEntryLabel) -> Bool {
    switch self {
    case .all: true
    case .key(let other), .variant(let other, _): key == other
    case .target(let target): key.target == target
    case .account(let account): key.account == account
    case .host(let host): label.host == host
    case .tag(let tag): label.tag.hasSameBytes(as: tag)
    case .olderThan: false
    }
  }
}
