import Errand
import ErrandTesting
import Foundation
import Testing

/// Downloads over a socket.
struct DownloadTests {
  @Test func `file is downloaded completely`() async throws {
    let fixture = try DownloadFixture()
    let file = try await fixture.send().result.get()
    #expect(file.bytes == Int64(DownloadFixture.size))
    #expect(file.url == fixture.file)
    #expect(fixture.isRight())
    #expect(fixture.names == ["film.bin"])
  }

  @Test func `truncated body is resumed`() async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number < 3 { behaviour.fault = .cut(after: 1_000_000) }
    }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight())
    #expect(fixture.server.requests.map(\.range) == [nil, "bytes=1000000-", "bytes=2000000-"])
    #expect(file.fetchedBytes == Int64(DownloadFixture.size))
  }

  @Test func `next call resumes the download`() async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
    }
    let broken = await fixture.send { $0.takeUps = 0 }
    #expect(broken.error?.transportKind == .truncated)
    #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"])
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight())
    #expect(file.keptBytes == 1_000_000 && file.fetchedBytes == 2_000_000)
  }

  private struct GetImage: APIRequest {
    let url: String
    let file: URL
    var path: Path { RequestPath(stringLiteral: url) }
    var validation: ResponseValidation { ResponseValidation(contentTypes: ["image/*"]) }
    var download: Download? { .to(file) }
    typealias Response = DownloadedFile
  }

  @Test(arguments: [1, 200_000]) func `page instead of a picture leaves no file`(times: Int) async throws {
    let fixture = try DownloadFixture()
    let page = String(repeating: "<h1>Log in</h1>", count: times)
    let server = try LoopbackServer { _ in .status(200, headers: ["Content-Type": "text/html"], body: page) }
    let outcome = await fixture.client.outcome(of: GetImage(url: server.url + "/a.png", file: fixture.file))
    #expect(outcome.error?.code == .contentType)
    #expect(outcome.error?.response?.body == Data(page.utf8.prefix(1 << 20)))
    #expect(fixture.names.isEmpty)
  }
}
