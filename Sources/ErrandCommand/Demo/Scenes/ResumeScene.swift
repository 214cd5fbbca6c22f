import Errand
import ErrandChecksum
import ErrandCore
import ErrandTesting
import Foundation

struct ResumeScene: DemoScene {
  let title = "A download interrupted twice: it resumes where it stopped, and is verified"
  let source = SceneSource()

  private static let content = RangeResource(size: 9 << 20)

  /// This function is never called, because this scene of the demo starts its own server, which supports ranges.
  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer { .status(404) }

  @MainActor func play(on stage: Stage) async throws {
    let server = try RangeServer { number in
      RangeBehaviour(Self.content) { if number < 3 { $0.fault = .cut(after: 4 << 20) } }
    }
    defer { server.stop() }
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-demo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "film.mp4")
    try Data("the old film".utf8).write(to: file)
    let (client, url, sum) = (stage.client, server.url, try Self.sum())

    // shown: begin
    var film = Download.to(file)
    film.checksum = try Checksum.sha256(sum)
    film.takeUps = 1
    let first = await client.outcome(of: FileDownload(url, film))
    let left = try InterruptedDownload.all(in: folder)
    let isOldThere = try Data(contentsOf: file) == Data("the old film".utf8)
    let second = try await client.send(FileDownload(url, film))
    // shown: end
    // The server counts bytes after the system has taken them. The client may receive these bytes before they are
    // counted, so the scene waits until all bytes are counted.
    try await server.served(atLeast: Self.content.size)

    for request in server.loopback.requests { stage.showSent(request, to: .cdn, fields: ["Range", "If-Range"]) }
    stage.showReceived(first.error)
    for part in left {
      stage.showReceived("kept: \(Self.words(part.bytes, of: part.total)) of \(part.file.lastPathComponent)")
    }
    let checks = second.checkedBy.joined(separator: ", ")
    stage.showReceived(
      "then \(Wording.bytes(second.fetchedBytes)) more; \(Wording.bytes(second.bytes)), \(checks) correct")
    check(second, server, on: stage)
    stage.expect("the old film stayed until the new film was complete", isOldThere)
  }

  @MainActor private func check(_ film: DownloadedFile, _ server: RangeServer, on stage: Stage) {
    let isRight = (try? Data(contentsOf: film.url)).map { Self.content.firstDifference($0) == nil } ?? false
    stage.expect("the file is correct, byte for byte", isRight && film.bytes == Int64(Self.content.size))
    stage.expect("the file has the required checksum", film.checkedBy == ["sha-256"])
    stage.expect(
      "\(server.servedBytes) bytes were fetched in three exchanges, and no byte was fetched twice",
      server.servedBytes == Self.content.size && film.keptBytes + film.fetchedBytes == film.bytes)
  }

  private static func words(_ bytes: Int64, of total: Int64?) -> String {
    "\(Wording.bytes(bytes)) of \(total.map(Wording.bytes) ?? "unknown")"
  }

  /// The SHA-256 checksum of the content in hexadecimal digits, as a download page would show it.
  private static func sum() throws -> String {
    let hash = try DigestAlgorithm.sha256.makeHash()
    content.bytes(in: 0..<content.size).withUnsafeBytes { hash.update($0) }
    return ASCII.hex(hash.finish())
  }
}
