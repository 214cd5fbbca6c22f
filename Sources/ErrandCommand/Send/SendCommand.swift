import Errand

/// Sends one request from the shell.
enum SendCommand {
  @MainActor static func run(_ arguments: [String]) async -> ExitCode { .other }
}
