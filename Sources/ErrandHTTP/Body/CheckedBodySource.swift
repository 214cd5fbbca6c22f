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
  /// ``BodyRead/later``: the announced length has been reached, so the body counts as complete.
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
  public var description: String { "The source of the body failed: \(cause)" }

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
