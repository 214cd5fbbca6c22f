public import Foundation

/// A file, or a part of it, read while it is sent. It must stay as it was when the request was built.
final class FileBodySource: BodySource {
  private let file: BodyFile
  private let path: String
  private let stamp: BodyFile.Stamp
  private let end: Int64
  private var offset: Int64

  init(_ path: String, _ stamp: BodyFile.Stamp, _ range: Range<Int64>) throws {
    self.path = path
    self.stamp = stamp
    offset = range.lowerBound
    end = range.upperBound
    file = try Self.naming { () throws(BodyFile.Failure) in try BodyFile(path) }
    try expectUnchanged()
  }

  func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    guard offset < end else {
      try expectUnchanged()
      return .end
    }
    let left = Int(clamping: end - offset)
    let piece = left < room.count ? UnsafeMutableRawBufferPointer(rebasing: room[..<left]) : room
    let count = try Self.naming { () throws(BodyFile.Failure) in try file.read(into: piece, at: offset) }
    guard count > 0 else { throw changed }
    offset += Int64(count)
    return .bytes(count)
  }

  private func expectUnchanged() throws {
    let found = try Self.naming { () throws(BodyFile.Failure) in try file.stamp() }
    if found != stamp { throw changed }
  }

  private var changed: TransportFailure {
    TransportFailure(.bodyChanged, "The file \(path) changed after the request was built; send it once more.")
  }

  private static func naming<Value>(_ body: () throws(BodyFile.Failure) -> Value) throws(TransportFailure) -> Value {
    do {
      return try body()
    } catch {
      throw TransportFailure(.bodySource, APIError.sentence("\(error)"))
    }
  }
}

extension HTTPBody {
  /// Makes a body of a file, which is looked at here and read while it is sent.
  ///
  /// One that changes between the two, by its size, its time or its identity, ends the exchange with
  /// ``ErrandHTTP/TransportFailure/Kind/bodyChanged``; its connection is not used again.
  ///
  /// - Parameters:
  ///   - url: Where the file is.
  ///   - range: The part of it to send, in bytes; nil for all of it.
  /// - Throws: ``ErrandCore/APIError`` with stage `build` and code ``ErrandCore/APIError/Code/invalidBody`` where it is
  ///   missing, unreadable, no regular file or shorter than the range.
  public static func file(_ url: URL, range: Range<Int64>? = nil) throws(APIError) -> HTTPBody {
    guard url.isFileURL else {
      throw .build(.invalidBody, "The body names \(Redaction.url(url.absoluteString)), which is no file URL.")
    }
    let path = url.path(percentEncoded: false)
    guard !path.utf8.contains(0) else {
      throw .build(
        .invalidBody, "The body names \(Redaction.visible(path)), which has a NUL in it; no file system takes that.")
    }
    let stamp: BodyFile.Stamp
    do {
      stamp = try BodyFile(path).stamp()
    } catch {
      throw .build(.invalidBody, APIError.sentence("\(error)"), cause: error)
    }
    let part = range ?? 0..<stamp.size
    guard part.lowerBound >= 0, part.upperBound <= stamp.size else {
      throw .build(
        .invalidBody,
        "The body is to be the bytes \(part.lowerBound)..<\(part.upperBound) of \(path), which has \(stamp.size).")
    }
    return made(
      range == nil ? .file(path: path) : .other, length: part.upperBound - part.lowerBound, isReplayable: true
    ) { _ in try FileBodySource(path, stamp, part) }
  }
}
