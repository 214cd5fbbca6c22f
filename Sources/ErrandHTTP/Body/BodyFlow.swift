/// Lets a body go on that its sink has paused, or whose source had nothing to give.
public struct BodyFlow: Sendable {
  private let action: @Sendable () -> Void

  /// Makes a flow of the action that lets the transport go on.
  public init(_ action: @escaping @Sendable () -> Void) { self.action = action }

  /// Lets the body go on. Any thread may call it, also before the write or read that pauses has returned; no effect
  /// when the body is not paused.
  public func resume() { action() }
}
