/// Reads a value as the type that it has.
enum JSONSameType {
  /// The value as a type that is its own; the caller has compared them, or has it from ``JSONKinds``, which does.
  @inline(__always) static func cast<Value, Own>(_ value: Value, to type: Own.Type) -> Own {
    unsafeBitCast(value, to: type)
  }
}
