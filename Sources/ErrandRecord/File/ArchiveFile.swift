public import Foundation

/// Reads files by system calls.
enum ArchiveFile {
  static func read(_ url: URL) throws(HTTPArchiveError) -> Data {
    let file = open(url)
    guard file >= 0 else { throw unreadable(url, errno) }
    defer { close(file) }
    return try read(file, url)
  }

  /// The location of the older part of a flight file.
  static func olderPart(_ url: URL) -> URL { URL(filePath: url.path(percentEncoded: false) + ".1") }

  /// Whether a flight file has an older part.
  static func hasOlderPart(_ url: URL) -> Bool {
    var status = stat()
    return stat(olderPart(url).path(percentEncoded: false), &status) == 0
  }

  /// Opens a file for reading; -1 if that failed. A named pipe does not block.
  static func open(_ url: URL) -> Int32 {
    Foundation.open(url.path(percentEncoded: false), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  }

  static func identity(_ file: Int32) -> [UInt64] {
    var status = stat()
    guard fstat(file, &status) == 0 else { return [] }
    return [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
  }

  /// The first bytes of an open file; nil if they cannot be read. Of a file that begins with zero bytes, which a power
  /// failure may have left, all bytes.
  static func start(of file: Int32) -> Data? {
    guard let start = try? bytes(of: file, atMost: 64) else { return nil }
    return start.first == 0 ? try? bytes(of: file, atMost: HTTPArchive.largestSize) : start
  }

  /// All bytes of an open file.
  static func read(_ file: Int32, _ url: URL) throws(HTTPArchiveError) -> Data {
    var status = stat()
    guard fstat(file, &status) == 0 else { throw unreadable(url, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw unreadable(url, EINVAL) }
    guard status.st_size <= HTTPArchive.largestSize else { throw .tooLarge(Int(clamping: status.st_size)) }
    do throws(ReadFailure) {
      return try bytes(of: file, atMost: HTTPArchive.largestSize)
    } catch {
      throw unreadable(url, error.code)
    }
  }

  private struct ReadFailure: Error { let code: Int32 }

  private static func bytes(of file: Int32, atMost most: Int) throws(ReadFailure) -> Data {
    var data = Data()
    var chunk = [UInt8](repeating: 0, count: min(most, 1 << 18))
    while data.count < most {
      let place = off_t(data.count)
      let wanted = min(chunk.count, most - data.count)
      let count = chunk.withUnsafeMutableBytes { pread(file, $0.baseAddress, wanted, place) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw ReadFailure(code: errno) }
      if count == 0 { break }
      data += chunk[..<count]
    }
    return data
  }

  static func unreadable(_ url: URL, _ code: Int32) -> HTTPArchiveError {
    let reason = code == EINVAL ? "It is no file" : String(cString: strerror(code))
    return HTTPArchiveError(
      .unreadable,
      "“\(url.path(percentEncoded: false))” cannot be read: \(reason). Name a flight file or an HTTP archive (HAR).")
  }
}

extension HTTPArchive {
  /// Reads the file of a ``FlightFile``, also while a process writes it: first the older part, whose name ends in `.1`,
  /// then the newer part. Either part may be missing.
  ///
  /// Lines that are not whole are ignored, and counted in ``unreadableLines``: the last line of a process that was
  /// killed, or a line that a full disk has cut off. Of more than ``mostEntries`` entries, the last are read; the others
  /// are counted in ``omittedEntries``.
  /// - Throws: ``HTTPArchiveError`` if no part can be read, or if a newer version of Errand wrote them.
  public init(flightFile url: URL) throws(HTTPArchiveError) {
    self.init()
    // The newer part is opened first: if it becomes the older part now, the same file is read twice instead of never.
    let newer = ArchiveFile.open(url)
    let failure = errno
    defer { if newer >= 0 { close(newer) } }
    let old = ArchiveFile.open(ArchiveFile.olderPart(url))
    defer { if old >= 0 { close(old) } }
    guard newer >= 0 || old >= 0 else { throw ArchiveFile.unreadable(url, failure) }
    let isSame = newer >= 0 && old >= 0 && ArchiveFile.identity(newer) == ArchiveFile.identity(old)
    var content = FlightLines.Content()
    for file in isSame ? [newer] : [old, newer] where file >= 0 {
      try FlightLines.read(try ArchiveFile.read(file, url), into: &content)
    }
    (entries, unreadableLines, omittedEntries) = (content.entries, content.unreadable, content.omitted)
  }
}
