import ErrandTesting
import Foundation

/// A temporary folder of pictures, removed on deinit.
struct PictureFolder: ~Copyable {
  private let place: URL

  init() throws {
    place = FileManager.default.temporaryDirectory.appending(path: "market-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: place) }

  /// A file that does not exist.
  var missing: URL { place.appending(path: "missing.jpg") }

  /// Writes a file with the given number of bytes.
  func picture(_ name: String, bytes: Int) throws -> URL {
    let file = place.appending(path: name)
    try Data((0..<bytes).map { LoopbackAnswer.generatedByte(at: $0) }).write(to: file)
    return file
  }
}
