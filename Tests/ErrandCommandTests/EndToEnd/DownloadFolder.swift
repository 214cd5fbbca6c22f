import Foundation
import Testing

/// An empty folder for one test, and the command in it.
struct DownloadFolder {
  let url = FileManager.default.temporaryDirectory.appending(path: "errand-down-\(UUID().uuidString)")

  /// Creates a folder, and removes it afterwards.
  static func with(_ body: (DownloadFolder) async throws -> Void) async throws {
    let folder = DownloadFolder()
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder.url) }
    try await body(folder)
  }

  var path: String { url.path }
  /// The path of a file in the folder.
  func file(_ name: String) -> String { url.appending(path: name).path }
  /// The sorted names in the folder.
  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  func bytes(_ name: String) throws -> Data { try Data(contentsOf: url.appending(path: name)) }

  func download(
    _ words: String..., meanwhile: (Process) async throws -> Void = { _ in }
  ) async throws -> BuiltCommand.Run {
    try await BuiltCommand.run(["download"] + words, meanwhile: meanwhile)
  }
}
