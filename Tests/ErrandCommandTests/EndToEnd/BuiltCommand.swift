import Foundation
import Testing

/// The command as it was built, run as a process of its own.
enum BuiltCommand {
  struct Run {
    let status: Int32
    let output: Data
    let error: String
    var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// The command lies beside the bundle of tests.
  static var place: URL {
    get throws {
      let tests = URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
      let folders = sequence(first: tests) { $0.path().count > 1 ? $0.deletingLastPathComponent() : nil }
      let found = folders.prefix(6).map { $0.appending(path: "errand") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path()) }
      return try #require(found, "the command is not beside the tests; build all products first")
    }
  }

  /// Runs it to its end. Output and error go through files, so that neither can fill a pipe.
  ///
  /// - Parameter meanwhile: What to do while it runs, such as to interrupt it.
  static func run(
    _ words: [String], environment: [String: String] = [:],
    meanwhile: (Process) async throws -> Void = { _ in }
  ) async throws -> Run {
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (output, error) = (folder.appending(path: "output"), folder.appending(path: "error"))
    for file in [output, error] { try Data().write(to: file) }
    let process = Process()
    process.executableURL = try place
    process.arguments = words
    process.environment = ["PATH": "/usr/bin:/bin"].merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: error)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in end.finish() }
    try process.run()
    do {
      try await meanwhile(process)
    } catch {
      process.terminate()
      throw error
    }
    for await _ in ends {}
    return Run(
      status: process.terminationStatus, output: try Data(contentsOf: output),
      error: try String(contentsOf: error, encoding: .utf8))
  }
}
