import ErrandSupport

/// Remembers removals while exchanges are in progress. An exchange must not store a response that was removed after the
/// exchange began.
///
/// A generation is a number that each removal increments. An exchange registers with the current generation at its
/// lookup, and checks before it stores a response whether a later removal affects that response. A removal is
/// remembered only while an exchange of an earlier generation is in progress.
struct Generations: Sendable {
  private var number: UInt64 = 0
  private var removals: [(number: UInt64, selection: CacheSelection)] = []
  /// The number of exchanges in progress for each generation, in ascending order of generations. Usually all of them
  /// have the latest generation.
  private var out: [(number: UInt64, count: Int)] = []

  /// Registers a new exchange and returns its generation. Call ``giveBack(_:)`` once when the exchange has ended.
  mutating func note() -> UInt64 {
    if out.last?.number == number { out[out.count - 1].count += 1 } else { out.append((number, 1)) }
    return number
  }

  /// Registers one more exchange with a given generation. Call ``giveBack(_:)`` once when this exchange has ended.
  mutating func note(of noted: UInt64) {
    if let place = out.lastIndex(where: { $0.number == noted }) {
      out[place].count += 1
    } else {
      out.insert((noted, 1), at: out.firstIndex { $0.number > noted } ?? out.endIndex)
    }
  }

  /// Removes an exchange that has ended.
  mutating func giveBack(_ noted: UInt64) {
    guard let place = out.lastIndex(where: { $0.number == noted }) else { return }
    out[place].count -= 1
    if out[place].count == 0 { out.remove(at: place) }
    guard !removals.isEmpty else { return }
    let oldest = out.first?.number ?? number
    removals.removeAll { $0.number <= oldest }
  }

  /// Records a removal.
  mutating func advance(_ selection: CacheSelection) {
    number += 1
    if !out.isEmpty { removals.append((number, selection)) }
  }

  /// Records a removal that is caused by the success of an exchange. The response of the exchange itself must be kept.
  ///
  /// Returns the generation with which the response is stored: the new generation, or the old one if another removal
  /// has affected the response in the meantime.
  mutating func advance(
    _ selection: CacheSelection, from noted: UInt64, keeping key: CacheKey, _ label: CacheEntryLabel
  ) -> UInt64 {
    let isCurrent = admits(noted, key: key, label: label)
    advance(selection)
    return isCurrent ? number : noted
  }

  /// Whether a response of an exchange with this generation may still be stored.
  func admits(_ noted: UInt64, key: CacheKey, label: CacheEntryLabel) -> Bool {
    !removals.contains { $0.number > noted && $0.selection.covers(key, label) }
  }

  /// The number of removals that are currently remembered.
  var remembered: Int { removals.count }
}

extension CacheSelection {
  /// Whether the selection includes an entry that is about to be stored.
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
