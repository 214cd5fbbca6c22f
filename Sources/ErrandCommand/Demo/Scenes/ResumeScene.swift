import Errand
import ErrandChecksum
import ErrandTesting
import Foundation

/// A download whose connection breaks twice.
struct ResumeScene: DemoScene {
  let title = "A download cut off twice: it goes on where it stopped, and is checked"
  let declared = #"""
    var film = Download.to(file)
    film.checksum = try Checksum.sha256(sum)
    film.takeUps = 1
    let first = await client.outcome(of: FileDownload(url, film))
    let left = try InterruptedDownload.all(in: folder)
    let second = try await client.send(FileDownload(url, film))
    """#

  private static let content = RangeResource(size: 9 << 20)

  /// The scene has a server of its own, which knows ranges.
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

    var film = Download.to(file)
    film.checksum = try Checksum.sha256(sum)
    film.takeUps = 1
    let first = await client.outcome(of: FileDownload(url, film))
    let left = try InterruptedDownload.all(in: folder)
    let isOldThere = try Data(contentsOf: file) == Data("the old film".utf8)
    let second = try await client.send(FileDownload(url, film))
    // The server counts bytes when the system has taken them: the client may have them before that.
    try await server.served(atLeast: Self.content.size)

    for request in server.loopback.requests { stage.showSent(request, to: .cdn, fields: ["Range", "If-Range"]) }
    stage.showGot(first.error)
    for part in left {
      stage.showGot("left: \(Self.words(part.bytes, of: part.total)) of \(part.file.lastPathComponent)")
    }
    let checks = second.checkedBy.joined(separator: ", ")
    stage.showGot("then \(Wording.bytes(second.fetchedBytes)) more; \(Wording.bytes(second.bytes)), \(checks) right")
    claim(second, server, on: stage)
    stage.claim("the old film was there until the new one was whole", isOldThere)
  }

  @MainActor private func claim(_ film: DownloadedFile, _ server: RangeServer, on stage: Stage) {
    let isRight = (try? Data(contentsOf: film.url)).map { Self.content.firstDifference($0) == nil } ?? false
    stage.claim("the file is right, byte for byte", isRight && film.bytes == Int64(Self.content.size))
    stage.claim("and has the checksum that was asked for", film.checkedBy == ["sha-256"])
    stage.claim(
      "\(server.servedBytes) bytes were fetched in three exchanges: not one of them twice",
      server.servedBytes == Self.content.size && film.keptBytes + film.fetchedBytes == film.bytes)
  }

  private static func words(_ bytes: Int64, of total: Int64?) -> String {
    "\(Wording.bytes(bytes)) of \(total.map(Wording.bytes) ?? "unknown")"
  }

  /// The SHA-256 as a web page would name it.
  private static func sum() throws -> String {
    let hash = try DigestAlgorithm.sha256.makeHash()
    content.bytes(in: 0..<content.size).withUnsafeBytes { hash.update($0) }
    return hash.finish().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
