#if canImport(FoundationNetworking)
  import Foundation
  import TestSupport

  /// How one check ended in a separate process, `TransportProbe`.
  enum ProbeEnd: Equatable, CustomStringConvertible {
    case passes
    /// The transport declares that it lacks a capability that the check needs.
    case lacks
    /// An expectation failed.
    case fails
    /// Foundation ended the process with a signal.
    case dies
    /// The check was still running at its time limit.
    case hangs
    /// The probe has no such check.
    case unknown

    var description: String {
      switch self {
      case .passes: "passes"
      case .lacks: "lacks the capability"
      case .fails: "fails"
      case .dies: "dies"
      case .hangs: "hangs"
      case .unknown: "is unknown"
      }
    }
  }

  /// Runs checks in separate processes.
  enum ProbeRun {
    /// Runs one check. `limit` is in seconds.
    static func end(of name: String, within limit: Double) async throws -> (end: ProbeEnd, output: String) {
      let process = Process()
      process.executableURL = try BuiltProgram("TransportProbe").place
      process.arguments = [name]
      process.environment = ProcessInfo.processInfo.environment.merging([
        "SWIFT_BACKTRACE": "enable=no", "LLVM_PROFILE_FILE": "/dev/null",
      ]) { $1 }
      let output = FileManager.default.temporaryDirectory.appending(path: "probe-\(UUID().uuidString)")
      try Data().write(to: output)
      defer { try? FileManager.default.removeItem(at: output) }
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = try FileHandle(forWritingTo: output)
      process.standardError = FileHandle.nullDevice
      let (ends, end) = AsyncStream.makeStream(of: Void.self)
      process.terminationHandler = { _ in end.finish() }
      try process.run()
      let pid = process.processIdentifier
      let watch = DispatchSource.makeTimerSource()
      watch.schedule(deadline: .now() + limit)
      watch.setEventHandler { kill(pid, SIGKILL) }
      watch.activate()
      for await _ in ends {}
      watch.cancel()
      return (ProbeRun.end(process), (try? String(contentsOf: output, encoding: .utf8)) ?? "")
    }

    private static func end(_ process: Process) -> ProbeEnd {
      if process.terminationReason == .uncaughtSignal {
        return process.terminationStatus == SIGKILL ? .hangs : .dies
      }
      return switch process.terminationStatus {
      case 0: .passes
      case 1: .fails
      case 2: .lacks
      default: .unknown
      }
    }
  }
#endif
