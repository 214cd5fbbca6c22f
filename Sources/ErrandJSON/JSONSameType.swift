/// Reads a value as the type that it has.
enum JSONSameType {
  /// The value as a type that is its own; the caller has compared them, or has it from ``JSONKinds``, which does.
  @inline(__always) static func cast<Value, Own>(_ value: Value, to type: Own.Type) -> Own {
    unsafeBitCast(value, to: type)
  }

  /// A new value as a type that is its own, or the same in memory, which the caller knows. It is moved, not copied.
  @inline(__always) static func move<Value, Own>(to type: Own.Type, _ make: () throws -> Value) rethrows -> Own {
    try withUnsafeTemporaryAllocation(of: Own.self, capacity: 1) { room in
      let place = UnsafeMutableRawPointer(room.baseAddress.unsafelyUnwrapped)
      place.bindMemory(to: Value.self, capacity: 1).initialize(to: try make())
      return room.moveElement(from: 0)
    }
  }
}
