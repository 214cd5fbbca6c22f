/// A value in a box that all copies share, so that a copy only copies a reference, however large the value is. Only the
/// targets of this package can use this type, because no product exports it.
///
/// The value in a box never changes; a change makes a new box. The type is public and inlinable so that other modules
/// can specialise it; see ``Locked``.
@frozen public struct Boxed<Value: Sendable>: Sendable {
  @usableFromInline let box: Box

  @usableFromInline
  final class Box: Sendable {
    @usableFromInline let value: Value

    @inlinable init(_ value: Value) { self.value = value }
  }

  /// Stores a value.
  @inlinable public init(_ value: Value) { box = Box(value) }

  /// The stored value.
  @inlinable public var value: Value { box.value }

  /// Changes a copy of the value and stores it in a new box. Other copies of this `Boxed` keep the old value.
  @inlinable public mutating func change(_ body: (inout Value) -> Void) {
    var value = box.value
    body(&value)
    self = Boxed(value)
  }
}

extension Boxed: Equatable where Value: Equatable {
  /// Whether the stored values are equal.
  @inlinable public static func == (left: Boxed, right: Boxed) -> Bool {
    left.box === right.box || left.box.value == right.box.value
  }
}

extension Boxed: Hashable where Value: Hashable {
  /// Hashes the stored value.
  @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(box.value) }
}
