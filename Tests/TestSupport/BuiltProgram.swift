package import Foundation

/// A program of this package as it was built, run as a process of its own.
package struct BuiltProgram {
  /// How one run ended.
  package struct Run {
    package let status: Int32
    package let output: Data
    package let error: String
    package var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// The program is not where programs are built.
  package struct Missing: Error, CustomStringConvertible {
    let name: String
    package var description: String { "\(name) is not beside the tests; build all products first" }
  }

  /// Where it lies.
  package let place: URL

  /// Takes a program that lies elsewhere, such as one of the system's.
  package init(at place: URL) { self.place = place }

  /// Finds a program by its name. It lies beside the bundle of tests.
  package init(_ name: String) throws {
    let tests = URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
    let folders = sequence(first: tests) { $0.path().count > 1 ? $0.deletingLastPathComponent() : nil }
    let found = folders.prefix(6).map { $0.appending(path: name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path()) }
    guard let found else { throw Missing(name: name) }
    place = found
  }

  /// Runs it to its end. Output and error go through files, so that neither can fill a pipe.
  ///
  /// - Parameter meanwhile: What to do while it runs, such as to interrupt it.
  package func run(
    _ words: [String] = [], environment: [String: String] = [:],
    meanwhile: (Process) async throws -> Void = { _ in }
  ) async throws -> Run {
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (output, error) = (folder.appending(path: "output"), folder.appending(path: "error"))
    for file in [output, error] { try Data().write(to: file) }
    let process = Process()
    process.executableURL = place
    process.arguments = words
    process.environment = ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"].merging(environment) { $1 }
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
