import Foundation
import TestSupport
import Testing

/// The helper process `MemoryProbe`: memory is measured where no other test, and no server, uses any.
enum MemoryProbe {
  /// Does one thing, and returns by how many bytes the memory of the process grew at most and how it ended.
  static func run(_ mode: String, _ url: String, _ file: URL? = nil) async throws -> (growth: Int, end: String) {
    let run = try await BuiltProgram("MemoryProbe").run([mode, url] + (file.map { [$0.path()] } ?? []))
    try #require(run.status == 0, "\(run.error)")
    let lines = run.text.split(separator: "\n")
    try #require(lines.count == 2, "\(run.text)")
    return (try #require(Int(lines[0])), String(lines[1]))
  }
}
