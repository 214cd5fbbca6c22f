#if os(Linux)
  import Foundation
  import TestSupport

  /// A server in a process of its own, see Tests/EngineServer. It ends with this object at the latest.
  final class ServerProcess: Sendable {
    private let process: Process
    private let input = Pipe()
    private let output = Pipe()
    let url: String

    /// Starts `EngineServer` with these words.
    init(_ words: [String]) throws {
      process = Process()
      process.executableURL = try BuiltProgram("EngineServer").place
      process.arguments = words
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      // It prints its port before anything else.
      let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      url = "http://127.0.0.1:\(port.trimmingCharacters(in: .whitespacesAndNewlines))"
    }

    deinit { process.terminate() }

    /// Ends the server. Returns how many requests came, and how many of them came twice.
    func finish() throws -> (requests: Int, repeated: Int) {
      try input.fileHandleForWriting.close()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
      return numbers.count == 2 ? (numbers[0], numbers[1]) : (-1, -1)
    }
  }
#endif
