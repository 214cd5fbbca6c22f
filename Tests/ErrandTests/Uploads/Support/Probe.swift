import Foundation
import TestSupport
import Testing

/// The helper process `UploadProbe`: memory is measured where no other test uses any.
enum Probe {
  /// Sends a file and returns by how many bytes the memory of the process grew at most.
  static func growth(_ mode: String, _ url: String, _ file: URL) async throws -> Int {
    let run = try await BuiltProgram("UploadProbe").run([mode, url, file.path()])
    try #require(run.status == 0, "\(run.error)")
    return try #require(Int(run.text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }
}
