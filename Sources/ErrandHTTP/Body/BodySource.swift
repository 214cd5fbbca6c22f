import ErrandSupport

/// Provides the body of one request piece by piece, whenever the transport asks for bytes. Implement this protocol for
/// a body that the app generates.
///
/// The transport calls the closure that makes the source, and then calls ``read(into:)`` repeatedly. It makes all these
/// calls on its own thread, and they must be quick. If a call throws, the exchange ends, its connection is closed, and
/// the thrown error reaches the caller as the cause. The source is released when the exchange is over; its `deinit`
/// frees its resources. A source is never isolated to an actor, also in a target whose default isolation is the main
/// actor.
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
public protocol BodySource: AnyObject, SendableMetatype {
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

/// Wraps a body source and enforces the announced length of the body. Wraps each error of the source in a
/// ``BodySourceFailure``.
///
/// The wrapper looks for excess bytes of the source before it returns the last announced bytes. Otherwise the server
/// would receive all announced bytes, and would accept an incomplete body as complete.
final class CheckedBodySource: BodySource {
  private let source: any BodySource
  private let length: Int64?
  private var given: Int64 = 0
  private var hasEnded = false

  init(_ source: any BodySource, length: Int64?) {
    self.source = source
    self.length = length
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    if hasEnded { return .end }
    guard let length else { return record(try readSource(into: buffer)) }
    if given >= length {
      try expectEnd(length)
      return .end
    }
    let left = Int(clamping: length - given)
    let part = left < buffer.count ? UnsafeMutableRawBufferPointer(rebasing: buffer[..<left]) : buffer
    let read = record(try readSource(into: part))
    if read == .end { throw Self.changed("the source gave \(given) bytes instead of \(length) bytes") }
    if given == length { try expectEnd(length) }
    return read
  }

  private func readSource(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    let read = try BodySourceFailure.naming { try source.read(into: buffer) }
    if case .bytes(let count) = read, count < 1 || count > buffer.count {
      throw TransportFailure(
        .bodySource,
        "The source of the body reported \(count) bytes for a buffer of \(buffer.count) bytes; it must report at least "
          + "1 byte and at most the size of the buffer.")
    }
    return read
  }

  private func record(_ read: BodyRead) -> BodyRead {
    switch read {
    case .bytes(let count): given += Int64(count)
    case .end: hasEnded = true
    case .later: break
    }
    return read
  }

  /// Checks that the source has ended after the announced bytes. Does not wait if the source returns
  /// ``BodyRead/later``: the announced length has been reached, so the body counts as complete. A source whose end
  /// comes late, or never, would otherwise delay the last bytes.
  private func expectEnd(_ length: Int64) throws {
    hasEnded = true
    let read = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { try readSource(into: $0) }
    if case .bytes = read { throw Self.changed("the source gave more than \(length) bytes") }
  }

  private static func changed(_ what: String) -> TransportFailure {
    TransportFailure(.bodyChanged, "The body does not have its announced length: \(what).")
  }
}

/// An error of a ``BodySource``, or of the closure that makes the source.
public struct BodySourceFailure: Error, CustomStringConvertible {
  /// The error that the body source threw, or the closure that makes the source.
  public let cause: any Error

  /// An English sentence that contains the description of ``cause``.
  public var description: String { "The source of the body failed: \(AppErrorText.of(cause))" }

  /// Runs `body` and wraps each error in a ``BodySourceFailure``, so that the caller can distinguish an error of the
  /// source from an error of the connection. A ``TransportFailure`` is rethrown unchanged.
  static func naming<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let failure as TransportFailure {
      throw failure
    } catch let failure as BodySourceFailure {
      throw failure
    } catch {
      throw BodySourceFailure(cause: error)
    }
  }
}

/// Provides several bodies as one body, in their order. Each body is opened when the body before it has ended.
final class JoinedBodySource: BodySource {
  private var bodies: ArraySlice<HTTPBody>
  private var current: (any BodySource)?
  private let flow: BodyFlow

  init(_ bodies: [HTTPBody], _ flow: BodyFlow) {
    self.bodies = bodies[...]
    self.flow = flow
  }

  /// Fills the buffer as far as possible. Otherwise the transport would send each small body separately.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    var count = 0
    while count < buffer.count {
      guard let source = try current ?? next() else { return count > 0 ? .bytes(count) : .end }
      switch try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...])) {
      case .bytes(let more): count += more
      case .end: current = nil
      case .later: return count > 0 ? .bytes(count) : .later
      }
    }
    return .bytes(count)
  }

  private func next() throws -> (any BodySource)? {
    current = try bodies.popFirst()?.open(flow)
    return current
  }
}

extension HTTPBody {
  /// Joins several bodies into one. The length of the joined body is known only if the lengths of all bodies are known.
  package static func joining(_ bodies: [HTTPBody]) -> HTTPBody {
    let length = bodies.reduce(Int64?.some(0)) { sum, body in
      guard let sum, let length = body.length else { return nil }
      let (whole, isTooLong) = sum.addingReportingOverflow(length)
      return isTooLong ? nil : whole
    }
    return made(.other, length: length, isReplayable: bodies.allSatisfy(\.isReplayable)) { flow in
      JoinedBodySource(bodies, flow)
    }
  }
}
