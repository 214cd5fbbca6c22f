import ErrandSupport
package import ErrandCore

/// Values that were decoded from one entry, kept beside it in memory; they die with it.
///
/// A value is kept under the rules by which it was judged and decoded. Its cost, as the caller estimates it, counts as a
/// part of the entry's; what the store has no room for is not kept.
package final class DecodedValues: Sendable {
  /// How many values one entry may have: a client has few types of request for one answer.
  private static let most = 8

  private struct Kept: Sendable {
    let rules: DecodedRules
    let value: any Sendable
  }

  /// A list, since to compare a few rules is quicker than to hash one.
  private let values = Locked<[Kept]>([])
  private let admits: @Sendable (DecodedValues, Int) -> Bool

  /// - Parameter admits: Asks whether the entry may grow by some bytes, and counts them if so.
  package init(admits: @escaping @Sendable (DecodedValues, Int) -> Bool) { self.admits = admits }

  /// The value that was made by these rules.
  package func value(_ rules: DecodedRules) -> (any Sendable)? {
    values.withLock { values in values.first { $0.rules == rules }?.value }
  }

  /// Keeps a value, if none is kept under these rules yet and there is room.
  /// - Parameter cost: An estimate of the bytes it takes.
  package func keep(_ value: any Sendable, _ rules: DecodedRules, cost: Int) {
    let isNew = values.withLock { values in
      guard values.count < Self.most, !values.contains(where: { $0.rules == rules }) else { return false }
      values.append(Kept(rules: rules, value: value))
      return true
    }
    guard isNew, !admits(self, max(cost, 0)) else { return }
    let refused = values.withLock { values in
      values.firstIndex { $0.rules == rules }.map { values.remove(at: $0) }
    }
    _ = refused
  }

  package var count: Int { values.withLock { $0.count } }
}
