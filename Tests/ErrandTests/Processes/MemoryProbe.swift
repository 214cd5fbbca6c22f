import Foundation
import TestSupport
import Testing

/// Runs the helper process `MemoryProbe`, in which neither another test nor a server uses memory.
enum MemoryProbe {
  /// Runs one scenario. Returns the largest growth of the process's memory in bytes, and the result.
  static func run(_ mode: String, _ url: String, _ file: URL? = nil) async throws -> (growth: Int, end: String) {
    let run = try await BuiltProgram("MemoryProbe").run([mode, url] + (file.map { [$0.path] } ?? []))
    try #require(run.status == 0, "\(run.error)")
    let lines = run.text.split(separator: "\n")
    try #require(lines.count == 2, "\(run.text)")
    return (try #require(Int(lines[0])), String(lines[1]))
  }
}
