import Foundation
import Testing

/// An example as it was built, run as a process of its own.
struct BuiltExample {
  let status: Int32
  let output: String
  let error: String

  /// Runs a program that lies beside the bundle of tests, to its end.
  init(_ name: String, _ words: [String] = []) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "example-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (output, error) = (folder.appending(path: "output"), folder.appending(path: "error"))
    for file in [output, error] { try Data().write(to: file) }
    let process = Process()
    process.executableURL = try Self.place(of: name)
    process.arguments = words
    process.environment = ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: error)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in end.finish() }
    try process.run()
    for await _ in ends {}
    status = process.terminationStatus
    self.output = try String(contentsOf: output, encoding: .utf8)
    self.error = try String(contentsOf: error, encoding: .utf8)
  }

  private static func place(of name: String) throws -> URL {
    let tests = URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
    let folders = sequence(first: tests) { $0.path().count > 1 ? $0.deletingLastPathComponent() : nil }
    let found = folders.prefix(6).map { $0.appending(path: name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path()) }
    return try #require(found, "\(name) is not beside the tests; build all products first")
  }
}
