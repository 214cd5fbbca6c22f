import Foundation

/// A folder in the real file system that is removed on deinit.
final class TransferFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "errand-transfer-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in the folder.
  func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// The sorted names in the folder.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  func bytes(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: self(name)).map(Array.init) }

  func put(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(filePath: self(name))) }

  func mode(_ name: String) -> UInt16? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: self(name))
    return (attributes?[.posixPermissions] as? Int).flatMap(UInt16.init)
  }
}
