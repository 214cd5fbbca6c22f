/// Takes the body of an answer piece by piece. It is told the head first, so that an error page never lands in a file.
///
/// All members but ``settle()`` are called on the transport's thread, one after the other, and must be quick. An error
/// thrown by one ends the exchange and reaches the caller as the cause.
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
  /// Called once the head has come, redirects included. Says where the body goes.
  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition
  /// Takes a piece, its content coding undone. The bytes are valid during the call only. False pauses the body until
  /// ``BodyFlow/resume()``; the piece given is taken all the same.
  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool
  /// Called when the body came whole into the sink. Not called where the exchange fails or the body went elsewhere.
  func end() throws
  /// Called once the exchange is over, whatever its end; the call goes on when this returns. A sink that writes
  /// elsewhere than on the transport's thread waits here for what it took, and lets go of it where the task is
  /// cancelled. By itself it does nothing.
  func settle() async throws
}

extension BodySink {
  /// Does nothing.
  public func settle() async throws {}
}

/// Where the body of an answer goes once its head is known.
public enum BodyDisposition: Sendable, Hashable {
  /// Into memory, up to a number of decoded bytes. The rest is left where it is, and the answer counts as whole.
  case memory(limit: Int)
  /// Into the sink.
  case sink
  /// Nowhere: it is dropped. A long one need not be read to its end.
  case discard
}
