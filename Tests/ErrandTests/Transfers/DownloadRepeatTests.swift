import ErrandCache
import ErrandChecksum
import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// When a download sends another request automatically, and what that request contains.
struct DownloadRepeatTests {
  private struct Export: APIRequest {
    typealias Response = DownloadedFile
    var path: Path
    var method = HTTPMethod.post
    var body: RequestBody? = .text("all of 2026")
    var download: Download?
  }

  private static let content = String(repeating: "0123456789abcdef", count: 12_500)

  @Test func `interrupted POST is not resent`() async throws {
    let fixture = try DownloadFixture()
    let server = try LoopbackServer { _ in
      .status(200, headers: ["ETag": "\"1\""], body: Self.content).cut(after: 100_000)
    }
    let request = Export(path: RequestPath(server.url + "/export"), download: .to(fixture.file))
    let outcome = await fixture.client.outcome(of: request)
    #expect(server.requests.count == 1)
    #expect(outcome.error?.transportKind == .truncated)
    #expect(outcome.error?.message.contains("resumed, because only GET requests can be resumed; ") == true)
    #expect(try InterruptedDownload.all(in: fixture.folder).allSatisfy { !$0.isResumable })
  }

  @Test func `POST with an expired link is not resent`() async throws {
    let fixture = try DownloadFixture()
    let server = try LoopbackServer { request in
      request.path == "/export" ? .status(303, headers: ["Location": "/link"]) : .status(403)
    }
    let request = Export(path: RequestPath(server.url + "/export"), download: .to(fixture.file))
    #expect(await fixture.client.outcome(of: request).error?.status == 403)
    #expect(server.requests.map(\.path) == ["/export", "/link"])
  }

  @Test func `short body is not requested endlessly`() async throws {
    let fixture = try DownloadFixture()
    let asked = Recorded<String>()
    for fields in [["Content-Length": "10"], ["Content-Length": "10", "ETag": "\"1\""]] as [HTTPFields] {
      var configuration = ClientConfiguration(baseURL: "http://h.example")
      configuration.transport = .own(
        ScriptedTransport { request in
          asked.append(request.fields["Range"] ?? "whole")
          return ScriptedAnswer(status: 200, fields: fields, body: Data("12345".utf8))
        })
      let outcome = await APIClient(configuration).outcome(of: FileDownload("http://h.example/a", .to(fixture.file)))
      #expect(outcome.error?.transportKind == .truncated)
    }
    #expect(asked.all.prefix(1) == ["whole"] && asked.count <= 5)
  }

  @Test func `fresh URL elsewhere gets no secrets`() async throws {
    let fixture = try DownloadFixture()
    let second = try LoopbackServer { request in .ok(request.headers["X-Api-Key"] ?? "no key") }
    let first = try LoopbackServer { _ in .status(403) }
    var configuration = ClientConfiguration(baseURL: first.url)
    configuration.headers = ["X-Api-Key": .secret("s3cret12")]
    var download = Download.to(fixture.file)
    download.freshURL = { _ in second.url + "/film" }
    let client = APIClient(configuration)
    _ = try await client.send(FileDownload(first.url + "/film", download))
    #expect(first.requests.map { $0.headers["X-Api-Key"] } == ["s3cret12"])
    #expect(try String(contentsOf: fixture.file, encoding: .utf8) == "no key")
    #expect(second.requests.allSatisfy { $0.headers["X-Api-Key"] == nil })
  }

  @Test func `part file of another URL is ignored`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    let other = try LoopbackServer { request in
      request.path == "/gone" ? .status(404) : .ok(Self.content)
    }
    let gone = await fixture.client.outcome(of: FileDownload(other.url + "/gone", .to(fixture.file)))
    #expect(gone.error?.status == 404)
    #expect(try fixture.keptBytes == 1_000_000, "a 404 for this URL does not remove the part of the other")
    var download = Download.to(fixture.file)
    download.maximumBytes = 250_000
    let file = try await fixture.client.send(FileDownload(other.url + "/small", download))
    #expect(file.bytes == 200_000 && file.keptBytes == 0)
  }

  @Test(arguments: ["Repr-Digest", "Content-Digest"] as [HTTPFieldName])
  func `digest of coded bytes is ignored`(field: HTTPFieldName) async throws {
    let fixture = try DownloadFixture()
    let coded = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA=="))
    let digest = "sha-256=:\(try sha256(coded)):"
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(
      ScriptedTransport { _ in
        ScriptedAnswer(status: 200, fields: ["Content-Encoding": "gzip", field: digest], body: Data("hello".utf8))
      })
    var download = Download.to(fixture.file)
    download.digests = .standard
    let file = try await APIClient(configuration).send(FileDownload("http://h.example/a", download))
    #expect(file.bytes == 5)
  }

  private func sha256(_ bytes: Data) throws -> String {
    let hash = try DigestAlgorithm.sha256.makeHash()
    bytes.withUnsafeBytes { hash.update($0) }
    return hash.finish().base64EncodedString()
  }
}
