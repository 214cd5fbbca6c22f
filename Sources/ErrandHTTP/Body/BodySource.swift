/// Gives the body of one request piece by piece, pulled by the transport: a body of one's own making.
///
/// Both are called on the transport's thread, one after the other, and must be quick. An error that is thrown ends the
/// exchange, closes its connection and reaches the caller as the cause. When the exchange is over the source is let go:
/// what it holds is given back in its `deinit`.
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
  /// Writes the next bytes to the front of `room`, which is never empty and is valid during the call only.
  func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead
}

/// What a ``BodySource`` had to give.
public enum BodyRead: Sendable, Hashable {
  /// So many bytes, at least one.
  case bytes(Int)
  /// Nothing now. It is asked again after ``BodyFlow/resume()`` of the flow that it was opened with.
  case later
  /// Nothing more, ever.
  case end
}
