/// Resumes the transfer of a body after the body's sink has paused it, or after its source had no bytes available.
public struct BodyFlow: Sendable {
  private let action: @Sendable () -> Void

  /// Makes a flow from the action that resumes the body in the transport.
  public init(_ action: @escaping @Sendable () -> Void) { self.action = action }

  /// Resumes the body. May be called from any thread, even before the `write` or `read` call that pauses the body has
  /// returned. Has no effect if the body is not paused.
  public func resume() { action() }
}
