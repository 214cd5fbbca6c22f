/// An object that a closure captures, to check whether the closure is released.
final class Captured: Sendable {}
