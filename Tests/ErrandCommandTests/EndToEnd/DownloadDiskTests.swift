import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A file size limit that is too small for the download, like a full disk.
struct DownloadDiskTests {
  private static let content = RangeResource(size: 3 << 20)

  /// Runs the command with a file size limit in units of 512 bytes.
  private func limited(to units: Int, _ words: [String]) async throws -> BuiltCommand.Run {
    let script = "ulimit -f \(units) && exec \"$0\" \"$@\""
    let errand = try BuiltProgram("errand").path
    // The limit would truncate a coverage profile, too.
    return try await BuiltProgram(at: URL(filePath: "/bin/sh")).run(
      ["-c", script, errand] + words, environment: ["LLVM_PROFILE_FILE": "/dev/null"])
  }

  @Test(arguments: [RangeBehaviour.Framing.length, .chunked], [[], ["--parallel", "4"]])
  func `a download resumes after a full disk`(framing: RangeBehaviour.Framing, words: [String]) async throws {
    let server = try RangeServer(RangeBehaviour(Self.content) { $0.framing = framing })
    try await DownloadFolder.with { folder async throws in
      let words = ["download", server.url, "-d", folder.path] + words
      let room = 5_500
      let full = try await limited(to: room, words)
      let sentence = "errand: The file “file.bin.part” could not be written: there is no space left (File too large"
      #expect(full.status == 23 && full.error.contains("\n\(sentence)"), "\(full.error)")
      #expect(full.error.hasSuffix("\nThe received bytes are kept; the same command resumes the download.\n"))
      #expect(try folder.names() == ["file.bin.part", "file.bin.part.meta"])
      let kept = try #require(try InterruptedDownload.all(in: folder.url).first).bytes
      #expect((700_000...Int64(room) * 512).contains(kept))

      let before = server.requests.count
      let done = try await BuiltCommand.run(words + ["-c"])
      #expect(done.status == 0 && done.error.contains("kept from an earlier run"), "\(done.error)")
      #expect(try Self.content.firstDifference(folder.bytes("file.bin")) == nil)
      #expect(try folder.names() == ["file.bin"] && folder.bytes("file.bin").count == Self.content.size)
      // No kept byte is fetched again.
      let again = server.requests.dropFirst(before).reduce(0) { $0 + ($1.servedRange?.count ?? 0) }
      #expect(Int64(again) == Int64(Self.content.size) - kept)
    }
  }
}
