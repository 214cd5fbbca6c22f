import Errand
import ErrandSupport
import Foundation

/// Where another URL of the same file comes from once a signed one has expired.
enum FreshLink: Sendable, Equatable {
  /// The first line that a command of the shell prints. It finds the old URL in `ERRAND_URL`.
  case command(String)
  /// The first line of what lies at a URL, which is asked without fields and credentials.
  case page(String)

  private struct Page: APIRequest {
    let url: String
    var path: Path { Path(url) }
    var credential: RequestCredential { .none }
    typealias Response = String
  }

  /// Reads what is said: a URL by its scheme, else a command.
  init(_ text: String, of option: String) throws(UsageError) {
    guard text.contains(where: { !$0.isWhitespace }) else { throw UsageError("\(option) needs a command or a URL") }
    let isURL = ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
    self = isURL ? .page(text) : .command(text)
  }

  /// The URL.
  func url(for old: String, _ client: APIClient) async throws -> String {
    let text =
      switch self {
      case .command(let command): try await Self.output(of: command, for: old)
      case .page(let url): try await client.send(Page(url: url))
      }
    let line = text.split(whereSeparator: \.isNewline).lazy.map { $0.trimmingCharacters(in: .whitespaces) }
      .first { !$0.isEmpty }
    guard let line else { throw Self.failure("--refresh gave no URL.") }
    return line
  }

  /// Why there is none.
  private static func failure(_ sentence: String) -> APIError {
    APIError(.transfer, .init(rawValue: "refresh"), sentence)
  }

  private static func output(of command: String, for url: String) async throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    process.environment = ProcessInfo.processInfo.environment.merging(["ERRAND_URL": url]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    let gone = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in gone.signal() }
    try await start(process)
    let output = await withTaskCancellationHandler {
      await read(pipe.fileHandleForReading, gone)
    } onCancel: {
      end(process)
    }
    try Task.checkCancellation()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw Self.failure("The command of --refresh ended with \(process.terminationStatus).")
    }
    return output
  }

  /// On a thread whose signals are not blocked: a command that inherits blocked ones cannot be ended.
  private static func start(_ process: Process) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let hasStarted = DetachedThread.start(named: "errand.refresh") {
        var signals = sigset_t()
        sigemptyset(&signals)
        // That one is for the command errand itself.
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        continuation.resume(with: Result { try process.run() })
      }
      if !hasStarted { continuation.resume(throwing: failure("The system has no room for the command of --refresh.")) }
    }
  }

  /// Ends the command and what it has started; by force where it is still there after a second.
  private static func end(_ process: Process) {
    kill(-process.processIdentifier, SIGTERM)
    DispatchQueue.global().asyncAfter(deadline: .now() + 1) {
      if process.isRunning { kill(-process.processIdentifier, SIGKILL) }
    }
  }

  /// The first 64 KiB of what is written, which are more than any URL; once the command is gone.
  private static func read(_ file: FileHandle, _ gone: DispatchSemaphore) async -> String {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        var bytes = Data()
        while bytes.count < 1 << 16, let piece = try? file.read(upToCount: 1 << 16), !piece.isEmpty { bytes += piece }
        try? file.close()
        gone.wait()
        continuation.resume(returning: String(decoding: bytes.prefix(1 << 16), as: UTF8.self))
      }
    }
  }
}
