import ErrandSupport
import Foundation
import TestSupport

/// The helper process `CacheCrasher`, running.
final class Crasher {
  private let process = Process()
  private let ends: AsyncStream<Void>
  /// What it says, line by line.
  let lines: AsyncStream<String>

  /// Starts it on a folder. It lies beside the bundle of tests.
  init(_ mode: String, _ folder: URL, limit: Int, number: UInt64) throws {
    process.executableURL = try BuiltProgram("CacheCrasher").place
    process.arguments = [mode, folder.path(), String(limit), String(number)]
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    self.ends = ends
    process.terminationHandler = { _ in end.finish() }
    lines = Self.lines(output.fileHandleForReading)
    try process.run()
  }

  /// Read by a thread of its own: a dispatch source on a pipe whose other end a killed child holds brings libdispatch
  /// down now and then.
  private static func lines(_ handle: FileHandle) -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    let isReading = DetachedThread.start(named: "crasher") {
      var rest = Data()
      // `read(upToCount:)` waits until so many bytes have come; this takes what is there.
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

  /// Reads all it says until it ends; returns how it ended.
  func finish() async -> (status: Int32, lines: [String]) {
    var said: [String] = []
    for await line in lines { said.append(line) }
    for await _ in ends {}
    return (process.terminationStatus, said)
  }

  /// Ends it at once, in the middle of whatever it does.
  func kill() async {
    Foundation.kill(process.processIdentifier, SIGKILL)
    for await _ in ends {}
  }
}
