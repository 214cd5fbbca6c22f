import ErrandTransfer
import Foundation
import Testing

@testable import ErrandCommand

struct DownloadJobTests {
  @Test func `bytes after a gap are kept too`() async throws {
    try await DownloadFolder.with { folder async throws in
      let file = folder.url.appending(path: "film", directoryHint: .notDirectory)
      let job = DownloadJob("http://h.example/film", to: file)
      #expect(job.kept == 0)
      let request = RequestIdentity(method: "GET", url: "http://h.example/film", variant: "0")
      let part = try PartFile.open(target: folder.file("film"))
      for place: Int64 in [0, 50] { try Data(count: 10).withUnsafeBytes { try part.write($0, at: place) } }
      try part.commit(PartMetadata(request: request, validator: .entityTag("\"v1\""), total: 100, now: 1))
      part.close()
      #expect(job.kept == 20)
    }
  }
}
