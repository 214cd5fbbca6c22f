import ErrandCore

/// Values that were decoded from one entry, kept beside it in memory; they die with it.
///
/// A value is kept under the type of the request that decoded it and the hash of that request's rules. Its cost, as the
/// caller estimates it, counts as a part of the entry's; what the store has no room for is not kept.
package final class DecodedValues: Sendable {
  /// What tells one decoded value from the others of the same entry.
  package struct Name: Sendable, Hashable {
    package let type: ObjectIdentifier
    package let rules: Int

    package init(type: ObjectIdentifier, rules: Int) {
      self.type = type
      self.rules = rules
    }
  }

  /// How many values one entry may have: a client has few types of request for one answer.
  private static let most = 8

  private let values = Locked<[Name: any Sendable]>([:])
  private let admits: @Sendable (DecodedValues, Int) -> Bool

  /// - Parameter admits: Asks whether the entry may grow by some bytes, and counts them if so.
  package init(admits: @escaping @Sendable (DecodedValues, Int) -> Bool) { self.admits = admits }

  /// The value under a name, where it is of this type.
  package func value<Value: Sendable>(_ name: Name, as type: Value.Type = Value.self) -> Value? {
    values.withLock { $0[name] } as? Value
  }

  /// Keeps a value, if none is kept under the name yet and there is room.
  /// - Parameter cost: An estimate of the bytes it takes.
  package func keep(_ value: any Sendable, _ name: Name, cost: Int) {
    let isNew = values.withLock { values in
      guard values[name] == nil, values.count < Self.most else { return false }
      values[name] = value
      return true
    }
    guard isNew, !admits(self, max(cost, 0)) else { return }
    let refused = values.withLock { $0.removeValue(forKey: name) }
    _ = refused
  }

  package var count: Int { values.withLock { $0.count } }
}
