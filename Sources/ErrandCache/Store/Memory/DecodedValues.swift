import ErrandSupport
package import ErrandCore

/// The values that were decoded from the body of one entry. They are kept in memory and released with the entry.
///
/// Each value is stored under the rules with which it was validated and decoded. The estimated size of a value is added
/// to the size of the entry. A value that is too large is not kept.
package final class DecodedValues: Sendable {
  /// The maximum number of values for one entry. A client usually has few request types for one response.
  private static let most = 8

  private struct Kept: Sendable {
    let rules: DecodedRules
    let value: any Sendable
  }

  /// The values are in an array, not in a dictionary, because comparing a few rules is faster than hashing one.
  private let values = Locked<[Kept]>([])
  private let admits: @Sendable (DecodedValues, Int) -> Bool

  /// Makes an object without values.
  /// - Parameter admits: A function that receives a number of bytes and returns whether the entry may grow by this
  ///   number. If the result is true, the store has already added the bytes to the size of the entry.
  package init(admits: @escaping @Sendable (DecodedValues, Int) -> Bool) { self.admits = admits }

  /// The value that was decoded under these rules; nil if no such value is kept.
  package func value(_ rules: DecodedRules) -> (any Sendable)? {
    values.withLock { values in values.first { $0.rules == rules }?.value }
  }

  /// Keeps a value. The value is dropped in three cases: a value under equal rules is already kept, the entry already
  /// has the maximum number of values, or the store has no space for the value.
  /// - Parameter cost: The estimated size of the value, in bytes.
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
