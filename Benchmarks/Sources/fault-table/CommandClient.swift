import Foundation

/// How programs handle a fault. Each runs in a separate process because it may hang or crash.
enum CommandClient {
  static func curl(_ url: String) async throws -> String {
    let format = "%{http_code} %{size_download} %{exitcode}\\n"
    let result = try run(
      "/usr/bin/env",
      [
        "curl", "-s", "-L", "--compressed", "--max-time", "2", "-H", "X-Api-Key: key", "-w", format, "-o", "/dev/null",
        url + "/fault", "--next", "-s", "--max-time", "2", "-w", "\\n" + format, url + "/next",
      ])
    guard let lines = result?.split(separator: "\n").map(String.init), let first = lines.first else {
      return "**hangs**"
    }
    let fields = first.split(separator: " ").compactMap { Int($0) }
    guard fields.count == 3 else { return "unreadable: \(first)" }
    let error = fields[2] == 0 ? nil : "\(fields[2])"
    return words(fields[0], fields[1], error, next: lines.contains("right") ? "right" : "nothing")
  }

  static func session(_ url: String) async throws -> String {
    let program = CommandLine.arguments.first ?? "fault-table"
    guard let result = try run(program, ["session", url]) else { return "**hangs**" }
    return result.isEmpty ? "**process ended**" : result.trimmingCharacters(in: .newlines)
  }

  /// The output of a program, or nil if it does not end.
  private static func run(_ program: String, _ arguments: [String]) throws -> String? {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let end = Date(timeIntervalSinceNow: 6)
    while process.isRunning, Date() < end { Thread.sleep(forTimeInterval: 0.02) }
    if process.isRunning {
      process.terminate()
      process.waitUntilExit()
      return nil
    }
    return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}
