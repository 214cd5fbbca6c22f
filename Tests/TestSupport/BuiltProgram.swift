package import Foundation

/// An executable of this package, run as a separate process.
package struct BuiltProgram {
  /// The result of one run.
  package struct Run {
    package let status: Int32
    package let output: Data
    package let error: String
    package var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// The executable is not in the build folder.
  package struct Missing: Error, CustomStringConvertible {
    let name: String
    package var description: String { "\(name) is not in the folder of the tests; build all products first" }
  }

  /// The location of the executable.
  package let place: URL

  /// The location of the executable as a path. A space in it stays a space.
  package var path: String { place.path(percentEncoded: false) }

  /// Uses an executable at another location, such as a system command.
  package init(at place: URL) { self.place = place }

  /// Finds an executable by its name, in the folder of the test bundle.
  package init(_ name: String) throws {
    let tests = URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
    let folders = sequence(first: tests) { $0.path.count > 1 ? $0.deletingLastPathComponent() : nil }
    let found = folders.prefix(6).map { $0.appending(path: name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    guard let found else { throw Missing(name: name) }
    place = found
  }

  /// The variables of every run. A program that is built with a sanitizer gets the options of the tests: with its own
  /// options, the address sanitizer reports leaks at the end, and the output is lost. The folder for temporary files is
  /// also that of the tests, which is removed although a program was killed.
  private static var environment: [String: String] {
    let names = ["ASAN_OPTIONS", "TSAN_OPTIONS", "TMPDIR"]
    let inherited = ProcessInfo.processInfo.environment.filter { names.contains($0.key) }
    return ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"].merging(inherited) { $1 }
  }

  /// Stops ignoring the signals of the tests. The executable inherits ignored signals, and a shell that starts the
  /// tests in the background ignores them.
  private static let useDefaultSignals: Void = {
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
  }()

  /// Runs the executable until it exits. Output and error are redirected to files, so that neither can fill a pipe.
  ///
  /// - Parameter meanwhile: Work to do while the executable runs, such as interrupting it.
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
    process.environment = Self.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: error)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in end.finish() }
    _ = Self.useDefaultSignals
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
