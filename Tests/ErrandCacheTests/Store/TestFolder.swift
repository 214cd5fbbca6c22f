import Foundation
import TestSupport

/// A temporary folder that is removed when its owner is released.
final class TestFolder: Sendable {
  let url: URL

  init() {
    url = FileManager.default.temporaryDirectory.appending(path: "errand-cache-\(UUID().uuidString)")
  }

  deinit { discardFolder(url) }

  /// All files in the folder, at any depth.
  var files: [URL] {
    let paths = (try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? []
    return paths.map { url.appending(path: $0) }.filter { file in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) && !isFolder.boolValue
    }
  }

  /// The total size of all files in the folder, in bytes.
  var bytes: Int { Self.bytes(of: files) }

  /// The total size without the log of the index, in bytes.
  var bytesBesideLog: Int { Self.bytes(of: files.filter { !$0.path.hasSuffix("-wal") }) }

  /// The size of the log of the index, in bytes.
  var logBytes: Int { Self.bytes(of: files.filter { $0.path.hasSuffix("-wal") }) }

  private static func bytes(of files: [URL]) -> Int {
    files.reduce(0) { sum, file in
      let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
      return sum + (attributes?[.size] as? Int ?? 0)
    }
  }

  func permissions(_ file: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
  }

  /// The files that contain these bytes.
  func filesWith(_ marker: String) throws -> [String] {
    try files.filter { try Data(contentsOf: $0).range(of: Data(marker.utf8)) != nil }.map(\.lastPathComponent)
  }
}
