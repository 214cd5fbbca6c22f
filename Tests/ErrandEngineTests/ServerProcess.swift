#if os(Linux)
  import Foundation
  import TestSupport

  /// A server that runs in its own process, see Tests/EngineServer. The process ends at the latest when this object is
  /// released.
  final class ServerProcess: Sendable {
    private let process: Process
    private let input = Pipe()
    private let output = Pipe()
    let url: String

    /// Starts `EngineServer` with these arguments.
    init(_ words: [String]) throws {
      process = Process()
      process.executableURL = try BuiltProgram("EngineServer").place
      process.arguments = words
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      // The server prints its port first.
      let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      url = "http://127.0.0.1:\(port.trimmingCharacters(in: .whitespacesAndNewlines))"
    }

    deinit { process.terminate() }

    /// Ends the server. Returns the number of requests, and how many of them arrived twice.
    func finish() throws -> (requests: Int, repeated: Int) {
      try input.fileHandleForWriting.close()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
      return numbers.count == 2 ? (numbers[0], numbers[1]) : (-1, -1)
    }
  }
#endif
