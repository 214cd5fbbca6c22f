/// A value that is held once however often it is handed on: a copy costs one reference, whatever the value is made of.
/// Not for users: no product hands it on.
///
/// What is in the box never changes; a change makes another box. Public and inlinable for the reason of ``Locked``.
@frozen public struct Boxed<Value: Sendable>: Sendable {
  @usableFromInline let box: Box

  @usableFromInline
  final class Box: Sendable {
    @usableFromInline let value: Value

    @inlinable init(_ value: Value) { self.value = value }
  }

  /// Puts a value into a box.
  @inlinable public init(_ value: Value) { box = Box(value) }

  /// What is in the box.
  @inlinable public var value: Value { box.value }

  /// Puts a changed value into a box of its own.
  @inlinable public mutating func change(_ body: (inout Value) -> Void) {
    var value = box.value
    body(&value)
    self = Boxed(value)
  }
}
