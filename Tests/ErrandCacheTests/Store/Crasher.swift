import ErrandSupport
import Foundation
import TestSupport

/// A running helper process `CacheCrasher`.
final class Crasher {
  private let process = Process()
  private let ends: AsyncStream<Void>
  /// The output of the process, line by line.
  let lines: AsyncStream<String>

  /// Starts the process on a folder. Its executable is next to the test bundle.
  init(_ mode: String, _ folder: URL, limit: Int, number: UInt64) throws {
    process.executableURL = try BuiltProgram("CacheCrasher").place
    process.arguments = [mode, folder.path, String(limit), String(number)]
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    self.ends = ends
    process.terminationHandler = { _ in end.finish() }
    lines = Self.lines(output.fileHandleForReading)
    try process.run()
  }

  /// Read by a separate thread: a dispatch source on a pipe whose other end belongs to a killed child occasionally
  /// crashes libdispatch.
  private static func lines(_ handle: FileHandle) -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    let isReading = DetachedThread.start(named: "crasher") {
      var rest = Data()
      // `read(upToCount:)` waits for all bytes; `availableData` returns those that have arrived.
      while case let bytes = handle.availableData, !bytes.isEmpty {
        rest += bytes
        while let end = rest.firstIndex(of: 0x0A) {
          continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[(end + 1)...])
        }
      }
      continuation.finish()
    }
    if !isReading { continuation.finish() }
    return lines
  }

  /// Reads the output until the process ends. Returns the exit status and the lines.
  func finish() async -> (status: Int32, lines: [String]) {
    var said: [String] = []
    for await line in lines { said.append(line) }
    for await _ in ends {}
    return (process.terminationStatus, said)
  }

  /// Kills the process immediately, whatever it is doing.
  func kill() async {
    Foundation.kill(process.processIdentifier, SIGKILL)
    for await _ in ends {}
  }
}
