import Errand
import ErrandSupport
import Foundation

/// The source of another URL for the same file, after a signed URL has expired.
enum FreshLink: Sendable, Equatable {
  /// The new URL is the first line in the output of this shell command that is not empty. The command gets the old URL
  /// in the environment variable `ERRAND_URL`.
  case command(String)
  /// The new URL is the first line in the response from this URL that is not empty. The request has none of the header
  /// fields and credentials from the command line.
  case page(String)

  private struct Page: APIRequest {
    let url: String
    var path: Path { Path(url) }
    var credential: RequestCredential { .none }
    typealias Response = String
  }

  /// Parses the value of `--refresh`: a URL if it starts with an HTTP scheme, otherwise a command.
  init(_ text: String, of option: String) throws(UsageError) {
    guard text.contains(where: { !$0.isWhitespace }) else { throw UsageError("\(option) needs a command or a URL") }
    let isURL = ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
    self = isURL ? .page(text) : .command(text)
  }

  /// Runs the command or sends the request, and returns the new URL.
  func url(for old: String, _ client: APIClient) async throws -> String {
    let text =
      switch self {
      case .command(let command): try await Self.output(of: command, for: old)
      case .page(let url): try await client.send(Page(url: url))
      }
    let line = text.split(whereSeparator: \.isNewline).lazy.map { $0.trimmingCharacters(in: .whitespaces) }
      .first { !$0.isEmpty }
    guard let line else {
      throw Self.failure(
        "--refresh gave no URL; the first line of the command's output, or of the response, must be the URL.")
    }
    return line
  }

  /// Creates the error for a new URL that could not be determined.
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
      let cause = process.terminationReason == .exit ? "failed with status" : "was ended by signal"
      throw Self.failure(
        "The command of --refresh \(cause) \(process.terminationStatus); correct it, so that it prints the new URL.")
    }
    return output
  }

  /// Starts the command on a thread without blocked signals: a command that inherits blocked signals cannot be
  /// terminated.
  private static func start(_ process: Process) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let hasStarted = DetachedThread.start(named: "errand.refresh") {
        var signals = sigset_t()
        sigemptyset(&signals)
        // SIGINT stays blocked in the command, because an interrupt from the keyboard is for errand itself.
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        continuation.resume(with: Result { try process.run() })
      }
      if !hasStarted { continuation.resume(throwing: failure("The command of --refresh could not be started.")) }
    }
  }

  /// Terminates the command and its process group, and kills them if the command still runs after a second.
  private static func end(_ process: Process) {
    kill(-process.processIdentifier, SIGTERM)
    DispatchQueue.global().asyncAfter(deadline: .now() + 1) {
      if process.isRunning { kill(-process.processIdentifier, SIGKILL) }
    }
  }

  /// Reads the output to its end and waits for the end of the command. Returns the first 64 KiB of the output, because
  /// every URL is shorter. The rest is read, too, because a closed pipe would end the command with an error.
  private static func read(_ file: FileHandle, _ gone: DispatchSemaphore) async -> String {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        var bytes = Data()
        while let piece = try? file.read(upToCount: 1 << 16), !piece.isEmpty {
          if bytes.count < 1 << 16 { bytes += piece }
        }
        try? file.close()
        gone.wait()
        continuation.resume(returning: String(decoding: bytes.prefix(1 << 16), as: UTF8.self))
      }
    }
  }
}
