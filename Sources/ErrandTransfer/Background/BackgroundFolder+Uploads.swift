import ErrandCore
import Foundation

extension BackgroundFolder where Record == BackgroundUploadRecord {
  /// The file that a body is, as it lies there; nil where the body is to be written into one first. A link is nothing to
  /// send from: it may lead elsewhere by then.
  func source(of body: HTTPBody, home: String) throws -> BackgroundSource? {
    guard let path = body.filePath, let status = try files.status(at: path), status.kind == .file else { return nil }
    // Finds out whether the file is still the one that the request was built with.
    _ = try body.open(BodyFlow {})
    return BackgroundSource(path, status, home: home)
  }

  /// Where a body lies that was written here.
  func bodyFile(of id: String) -> URL {
    URL(filePath: place(id, BackgroundKind.bodySuffix), directoryHint: .notDirectory)
  }

  /// Writes a body into a file of the user alone and brings it to the disk. Off the lane, since a source may let it wait;
  /// a cancel of the task ends it.
  @concurrent func write(_ body: HTTPBody, for id: String) async throws {
    let path = place(id, BackgroundKind.bodySuffix)
    let file = try files.open(path, .new)
    do {
      defer { try? files.close(file) }
      try await BackgroundBodyCopy(body, into: file, files).run()
    } catch {
      try? files.remove(path)
      throw error
    }
  }

  /// The body of an answer.
  func answer(to id: String, limit: Int) throws -> Data {
    let file = try files.open(answerFile(of: id), .reading)
    defer { try? files.close(file) }
    let length = try files.status(of: file).length
    if length > Int64(limit) {
      throw TransportFailure(.tooLarge, "The answer has \(length) bytes, and no more than \(limit) are taken.")
    }
    return try read(file, length)
  }
}
