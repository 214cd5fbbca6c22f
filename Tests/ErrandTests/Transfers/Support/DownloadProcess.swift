import Foundation
import TestSupport

/// The helper process `DownloadCrasher`, running.
final class DownloadProcess {
  /// How it ended.
  enum Ending: Int32 {
    case done = 0
    case failed, busy, diskFull, mismatch, memory
    case killed = -1
  }

  private let process = Process()
  private let ends: AsyncStream<Void>

  /// Starts it. It lies beside the bundle of tests.
  /// - Parameters:
  ///   - room: How large its files may become; 0 for no limit.
  ///   - parallel: How many ranges it fetches side by side.
  init(_ url: String, _ file: URL, room: Int = 0, parallel: Int = 1) throws {
    process.executableURL = try BuiltProgram("DownloadCrasher").place
    process.arguments = [url, file.path, String(room), String(parallel)]
    if room > 0 {
      // A profile of its coverage would be cut by the limit, too, and a damaged one spoils all others.
      process.environment = ProcessInfo.processInfo.environment.merging(["LLVM_PROFILE_FILE": "/dev/null"]) { $1 }
    }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    self.ends = ends
    process.terminationHandler = { _ in end.finish() }
    try process.run()
  }

  /// Waits for its end.
  func finish() async -> Ending? {
    for await _ in ends {}
    return process.terminationReason == .uncaughtSignal ? .killed : Ending(rawValue: process.terminationStatus)
  }

  /// Ends it at once, in the middle of whatever it does; says how it ended, which may have been before.
  func kill() async -> Ending? {
    Foundation.kill(process.processIdentifier, SIGKILL)
    return await finish()
  }
}
