/// Resumes the transfer of a paused body. A body pauses if the sink of a response body pauses it, or if the source of a
/// request body has no bytes available.
public struct BodyFlow: Sendable {
  private let action: @Sendable () -> Void

  /// Makes a flow. `action` is a closure of the transport that resumes the body.
  public init(_ action: @escaping @Sendable () -> Void) { self.action = action }

  /// Resumes the body. May be called from any thread, even before the `write` or `read` call that pauses the body has
  /// returned. Has no effect if the body is not paused.
  public func resume() { action() }
}
