import Foundation
import TestSupport

/// A running helper process `DownloadCrasher`.
final class DownloadProcess {
  /// The exit status of the process, by its meaning.
  enum Ending: Int32 {
    case done = 0
    case failed, busy, diskFull, mismatch, memory
    case killed = -1
  }

  private let process = Process()
  private let ends: AsyncStream<Void>

  /// Starts the process. The executable is in the folder of the test bundle.
  /// - Parameters:
  ///   - room: The maximum size of its files in bytes; 0 for no limit.
  ///   - parallel: The number of ranges that it fetches concurrently.
  init(_ url: String, _ file: URL, room: Int = 0, parallel: Int = 1) throws {
    process.executableURL = try BuiltProgram("DownloadCrasher").place
    process.arguments = [url, file.path, String(room), String(parallel)]
    if room > 0 {
      // The size limit would truncate a coverage profile too, and one damaged profile makes all others unusable.
      process.environment = ProcessInfo.processInfo.environment.merging(["LLVM_PROFILE_FILE": "/dev/null"]) { $1 }
    }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    self.ends = ends
    process.terminationHandler = { _ in end.finish() }
    try process.run()
  }

  /// Waits until the process exits.
  func finish() async -> Ending? {
    for await _ in ends {}
    return process.terminationReason == .uncaughtSignal ? .killed : Ending(rawValue: process.terminationStatus)
  }

  /// Kills the process immediately. Returns how it ended, which may have been earlier.
  func kill() async -> Ending? {
    Foundation.kill(process.processIdentifier, SIGKILL)
    return await finish()
  }
}
