/// An object that a closure captures, to see whether the closure is let go.
final class Captured: Sendable {}
