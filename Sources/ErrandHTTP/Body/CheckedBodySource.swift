/// Holds a source to its announced length, and names what it throws.
///
/// That more would come is found out before the last bytes go out, so that no server takes a wrong body for a whole
/// one.
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
    if read == .end { throw Self.changed("gave \(given) bytes where \(length) were announced") }
    if given == length { try expectEnd(length) }
    return read
  }

  private func ask(_ room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    let read = try BodySourceFailure.naming { try source.read(into: room) }
    if case .bytes(let count) = read, count < 1 || count > room.count {
      throw TransportFailure(
        .bodySource, "The source of the body said that it gave \(count) bytes into room for \(room.count).")
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

  /// A source that has nothing at this moment is not waited for: nothing more was announced.
  private func expectEnd(_ length: Int64) throws {
    hasEnded = true
    let read = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { try ask($0) }
    if case .bytes = read { throw Self.changed("gives more than the \(length) bytes that were announced") }
  }

  private static func changed(_ what: String) -> TransportFailure {
    TransportFailure(.bodyChanged, "The source of the body \(what).")
  }
}

/// What a ``BodySource`` threw, or the closure that makes one.
public struct BodySourceFailure: Error, CustomStringConvertible {
  /// What was thrown.
  public let cause: any Error

  /// An English sentence that names the cause.
  public var description: String { "What the body is read from failed: \(cause)" }

  /// Marks what `body` throws, so that the caller can tell it from failures of the line. What speaks for itself stays.
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
