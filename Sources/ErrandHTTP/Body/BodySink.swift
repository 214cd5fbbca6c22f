/// Receives the body of a response piece by piece. The sink gets the response headers first, so that it can keep an
/// error page out of a file.
///
/// All members except ``settle()`` are called on the transport's thread, one after the other, and must be quick. The
/// body of a response that an interceptor of the app makes itself arrives as one piece, in a task of the call. If a
/// member throws, the exchange ends and the thrown error reaches the caller as the cause.
///
/// ```swift
/// final class Counter: BodySink {
///   private let bytes = Mutex(0)
///   func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
///   func write(_ piece: UnsafeRawBufferPointer) -> Bool {
///     bytes.withLock { $0 += piece.count }
///     return true
///   }
///   func end() {}
/// }
/// ```
public protocol BodySink: Sendable {
  /// Called when the response headers have arrived, including the headers of a redirect. Returns the destination of the
  /// body.
  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition
  /// Receives a piece of the body after content decoding. The bytes are valid only during the call. Returning false
  /// pauses the body until ``BodyFlow/resume()``; the piece of this call still counts as received.
  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool
  /// Called when the sink has received the whole body. Not called if the exchange fails, or if ``begin(_:flow:)`` chose
  /// another destination.
  func end() throws
  /// Called once when an exchange is over, with or without success. The call of the client continues after `settle` has
  /// returned. A sink that writes on its own thread waits in `settle` until its writes are done, and stops waiting if
  /// the task is cancelled. The default implementation does nothing.
  ///
  /// A call may have several exchanges, for example because of a redirect, a retry or a refreshed credential. `settle`
  /// is called after each of them, also if the sink has received nothing, so it must not close the destination.
  func settle() async throws
}

extension BodySink {
  /// The default implementation, which does nothing.
  public func settle() async throws {}
}

/// The destination of a response body. ``BodySink/begin(_:flow:)`` chooses it from the response headers.
public enum BodyDisposition: Sendable, Hashable {
  /// The body goes into memory, up to `limit` decoded bytes. The rest of a longer body is not read, and the response
  /// counts as complete.
  case memory(limit: Int)
  /// The body is passed piece by piece to the ``BodySink``.
  case sink
  /// The body is dropped. The transport need not read a long body to its end.
  case discard
}

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
