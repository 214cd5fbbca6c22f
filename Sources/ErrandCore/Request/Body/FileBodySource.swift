public import Foundation

/// Reads a file, or a part of it, while the body is sent. If the file changes after the request was built, the exchange
/// fails.
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

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    guard offset < end else {
      try expectUnchanged()
      return .end
    }
    let left = Int(clamping: end - offset)
    let piece = left < buffer.count ? UnsafeMutableRawBufferPointer(rebasing: buffer[..<left]) : buffer
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
    TransportFailure(.bodyChanged, "The file \(path) changed after the request was built; send the request again.")
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
  /// Makes a body from a file. The file is checked now and read while the body is sent.
  ///
  /// If the size, the modification time or the identity of the file changes before the body is sent completely, the
  /// exchange fails with ``ErrandHTTP/TransportFailure/Kind/bodyChanged``, and its connection is not used again.
  ///
  /// - Parameters:
  ///   - url: The URL of the file.
  ///   - range: The part of the file to send, in bytes; nil for the whole file.
  /// - Throws: ``ErrandCore/APIError`` with stage `build` and code ``ErrandCore/APIError/Code/invalidBody`` if the file
  ///   is missing, unreadable, not a regular file, or shorter than the range.
  public static func file(_ url: URL, range: Range<Int64>? = nil) throws(APIError) -> HTTPBody {
    guard url.isFileURL else {
      throw .build(
        .invalidBody,
        "The URL \(Redaction.url(url.absoluteString)) of the body is not a file URL; make it with `URL(filePath:)`.")
    }
    let path = url.path(percentEncoded: false)
    guard !path.utf8.contains(0) else {
      throw .build(
        .invalidBody, "The file path \(Redaction.visible(path)) of the body contains a NUL character; remove it.")
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
        "The byte range \(part.lowerBound)..<\(part.upperBound) of the body is not within the file \(path);"
          + " choose a range within the \(stamp.size) bytes of the file.")
    }
    return made(
      range == nil ? .file(path: path) : .other, length: part.upperBound - part.lowerBound, isReplayable: true
    ) { _ in try FileBodySource(path, stamp, part) }
  }
}
