/// Wraps a body source and enforces the announced length of the body. Wraps each error of the source in a
/// ``BodySourceFailure``.
///
/// The source is checked for excess bytes before the last announced bytes are sent. Otherwise the server would take the
/// cut body for a complete one.
final class CheckedBodySource: BodySource {
  private let source: any BodySource
  private let length: Int64?
  private var given: Int64 = 0
  private var hasEnded = false

  init(_ source: any BodySource, length: Int64?) {
    self.source = source
    self.length = length
  }

  func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    if hasEnded { return .end }
    guard let length else { return noting(try ask(room)) }
    if given >= length {
      try expectEnd(length)
      return .end
    }
    let left = Int(clamping: length - given)
    let read = noting(try ask(left < room.count ? UnsafeMutableRawBufferPointer(rebasing: room[..<left]) : room))
    if read == .end { throw Self.changed("gave \(given) bytes instead of the announced \(length)") }
    if given == length { try expectEnd(length) }
    return read
  }

  private func ask(_ room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    let read = try BodySourceFailure.naming { try source.read(into: room) }
    if case .bytes(let count) = read, count < 1 || count > room.count {
      throw TransportFailure(
        .bodySource, "The source of the body reported \(count) bytes for a buffer of \(room.count) bytes.")
    }
    return read
  }

  private func noting(_ read: BodyRead) -> BodyRead {
    switch read {
    case .bytes(let count): given += Int64(count)
    case .end: hasEnded = true
    case .later: break
    }
    return read
  }

  /// Checks that the source has ended after the announced bytes. Does not wait if the source returns
  /// ``BodyRead/later``: the announced length has been reached, so the body counts as complete.
  private func expectEnd(_ length: Int64) throws {
    hasEnded = true
    let read = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { try ask($0) }
    if case .bytes = read { throw Self.changed("gave more than the announced \(length) bytes") }
  }

  private static func changed(_ what: String) -> TransportFailure {
    TransportFailure(.bodyChanged, "The source of the body \(what).")
  }
}

/// An error that a ``BodySource`` threw, or the closure that makes the source.
public struct BodySourceFailure: Error, CustomStringConvertible {
  /// The error that was thrown.
  public let cause: any Error

  /// An English sentence that contains the description of the cause.
  public var description: String { "The source of the body failed: \(cause)" }

  /// Wraps each error of `body` in a ``BodySourceFailure``, so that the caller can tell it from an error of the
  /// connection. A ``TransportFailure`` is rethrown unchanged.
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
