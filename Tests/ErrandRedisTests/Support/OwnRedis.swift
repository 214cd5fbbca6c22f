import Foundation
import Testing

/// A redis-server for a single test, on a socket in a separate folder. The test may freeze and kill it.
final class OwnRedis {
  private let folder: URL
  private let arguments: [String]
  private var process: Process?

  init(_ arguments: [String] = []) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "redis-\(UUID().uuidString.prefix(8))")
    self.arguments = arguments
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  var socket: String { folder.appending(path: "s").path }

  /// Starts the server, also after it was killed. Returns when the server replies.
  func start() throws {
    let process = Process()
    process.executableURL = URL(filePath: try TestRedis.setting("ERRAND_REDIS_PROGRAM"))
    process.arguments =
      ["--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", folder.path] + arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    self.process = process
    var said = ""
    repeat {
      let data = output.fileHandleForReading.availableData
      try #require(!data.isEmpty, "redis-server does not start: \(said)")
      said += String(decoding: data, as: UTF8.self)
    } while !said.contains("to accept connections")
  }

  /// Kills the server immediately.
  func kill() {
    guard let process, process.isRunning else { return }
    signal(SIGKILL)
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: socket)
  }

  /// Freezes the server with all its connections.
  func freeze() { signal(SIGSTOP) }
  func thaw() { signal(SIGCONT) }

  private func signal(_ number: Int32) {
    guard let process, process.isRunning else { return }
    Foundation.kill(process.processIdentifier, number)
  }
}
