import Foundation

/// A folder with files to upload. It is removed with its owner.
final class UploadFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "errand-upload-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String, _ bytes: Data) throws -> URL {
    let file = url.appending(path: name)
    try bytes.write(to: file)
    return file
  }

  /// A sparse file of zeros that takes no disk space.
  func sparse(_ name: String, _ length: UInt64) throws -> URL {
    let file = try file(name, Data())
    try resize(file, length)
    return file
  }

  func resize(_ file: URL, _ length: UInt64) throws {
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: length)
    try handle.close()
  }

  /// Bytes with a long period, so that a misplaced piece is detected.
  static func bytes(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }) }
}
