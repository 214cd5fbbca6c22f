import Errand
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
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in end.finish() }
    try process.run()
    let output = await withTaskCancellationHandler {
      let output = await read(pipe.fileHandleForReading)
      for await _ in ends {}
      return output
    } onCancel: {
      process.terminate()
    }
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw Self.failure("The command of --refresh ended with \(process.terminationStatus).")
    }
    return output
  }

  /// All that is written, of which the first 64 KiB are more than any URL.
  private static func read(_ file: FileHandle) async -> String {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        let bytes = (try? file.readToEnd()) ?? Data()
        continuation.resume(returning: String(decoding: bytes.prefix(1 << 16), as: UTF8.self))
      }
    }
  }
}
