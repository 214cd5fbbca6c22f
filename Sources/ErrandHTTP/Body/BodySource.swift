/// Provides the body of one request piece by piece, whenever the transport asks for bytes. Used for bodies that the app
/// generates.
///
/// The closure that makes the source and ``read(into:)`` are called on the transport's thread, one after the other, and
/// must be quick. If one of them throws, the exchange ends, its connection is closed, and the thrown error reaches the
/// caller as the cause. The source is released when the exchange is over; its `deinit` frees its resources.
///
/// ```swift
/// final class Countdown: BodySource {
///   private var next: UInt8 = 10
///   func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead {
///     guard next > 0, let first = room.indices.first else { return .end }
///     room[first] = next
///     next -= 1
///     return .bytes(1)
///   }
/// }
/// let body = RequestBody.stream(length: 10, isReplayable: true) { _ in Countdown() }
/// ```
public protocol BodySource: AnyObject {
  /// Writes the next bytes to the start of `room`, which is never empty and is valid only during the call.
  func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead
}

/// The result of reading from a ``BodySource``.
public enum BodyRead: Sendable, Hashable {
  /// The number of bytes that were written, at least one.
  case bytes(Int)
  /// No bytes are available now. The transport reads again after ``BodyFlow/resume()`` is called on the flow that was
  /// passed when the source was opened.
  case later
  /// The body has ended.
  case end
}
