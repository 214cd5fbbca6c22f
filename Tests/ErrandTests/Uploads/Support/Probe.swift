import Foundation
import Testing

/// The helper process `UploadProbe`: memory is measured where no other test uses any.
enum Probe {
  /// Sends a file and returns by how many bytes the memory of the process grew at most.
  static func growth(_ mode: String, _ url: String, _ file: URL, _ folder: UploadFolder) async throws -> Int {
    let output = try folder.file("\(mode).out", Data())
    let process = Process()
    process.executableURL = try place()
    process.arguments = [mode, url, file.path()]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in end.finish() }
    try process.run()
    for await _ in ends {}
    try #require(process.terminationStatus == 0)
    let text = try String(contentsOf: output, encoding: .utf8)
    return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  /// It lies beside the bundle of tests.
  private static func place() throws -> URL {
    let tests = URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
    let folders = sequence(first: tests) { $0.path().count > 1 ? $0.deletingLastPathComponent() : nil }
    let found = folders.prefix(6).map { $0.appending(path: "UploadProbe") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path()) }
    return try #require(found, "UploadProbe is not beside the tests; build all products first")
  }
}
