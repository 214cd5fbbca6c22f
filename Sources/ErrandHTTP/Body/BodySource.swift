/// Provides the body of one request piece by piece, whenever the transport asks for bytes. Implement this protocol for
/// a body that the app generates.
///
/// The transport calls the closure that makes the source, and then calls ``read(into:)`` repeatedly. It makes all these
/// calls on its own thread, and they must be quick. If a call throws, the exchange ends, its connection is closed, and
/// the thrown error reaches the caller as the cause. The source is released when the exchange is over; its `deinit`
/// frees its resources.
///
/// ```swift
/// final class Countdown: BodySource {
///   private var next: UInt8 = 10
///   func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
///     guard next > 0, let first = buffer.indices.first else { return .end }
///     buffer[first] = next
///     next -= 1
///     return .bytes(1)
///   }
/// }
/// let body = RequestBody.stream(length: 10, isReplayable: true) { _ in Countdown() }
/// ```
public protocol BodySource: AnyObject {
  /// Writes the next bytes to the start of `buffer`, which is never empty and is valid only during the call.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead
}

/// The result of reading from a ``BodySource``.
public enum BodyRead: Sendable, Hashable {
  /// The number of bytes that were written, at least one.
  case bytes(Int)
  /// No bytes are available now. When the source has bytes again, it calls ``BodyFlow/resume()``, and the transport
  /// reads again. The closure that makes the source receives the ``BodyFlow`` as its argument.
  case later
  /// The body has ended.
  case end
}
