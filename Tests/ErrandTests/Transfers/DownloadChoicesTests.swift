import Errand
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

/// The options that are kept when `InterruptedDownload` resumes a download without its request.
struct DownloadChoicesTests {
  private static let bookField = "attachment; filename=\"book.txt\""

  /// Starts the file and returns the interrupted download.
  private func interrupted(
    _ fixture: DownloadFixture, _ change: (inout Download) -> Void
  ) async throws -> InterruptedDownload {
    fixture.answer { $1.fault = .cut(after: 1_000_000) }
    _ = await fixture.send {
      $0.takeUps = 0
      change(&$0)
    }
    fixture.answer()
    return try #require(try InterruptedDownload.all(in: fixture.folder).first)
  }

  @Test func `description masks the signature`() async throws {
    let fixture = try DownloadFixture()
    let left = try await interrupted(fixture) { $0.resource = "https://h.example/film?sig=s3cret" }
    var text = "\(left) \(String(reflecting: left))"
    dump(left, to: &text)
    #expect(left.resource.contains("s3cret") && !text.contains("s3cret"))
    #expect(left.description == "film.bin: \(left.bytes) of 3000000 bytes of https://h.example/film?sig=•••")
  }

  @Test func `resumed file keeps its permissions`() async throws {
    let fixture = try DownloadFixture()
    let left = try await interrupted(fixture) { $0.permissions = 0o600 }
    let file = try await fixture.client.send(left.request())
    #expect(fixture.isRight() && file.keptBytes > 0 && fixture.mode(of: fixture.file) == 0o600)
  }

  @Test func `later options replace earlier ones`() async throws {
    let fixture = try DownloadFixture()
    _ = try await interrupted(fixture) { $0.permissions = 0o600 }
    fixture.answer { $1.fault = .cut(after: 1_000) }
    _ = await fixture.send {
      $0.takeUps = 0
      $0.permissions = 0o640
    }
    fixture.answer()
    let left = try #require(try InterruptedDownload.all(in: fixture.folder).first)
    _ = try await fixture.client.send(left.request())
    #expect(fixture.isRight() && fixture.mode(of: fixture.file) == 0o640)
  }

  @Test func `existing file is still kept`() async throws {
    let fixture = try DownloadFixture()
    let left = try await interrupted(fixture) { $0.replaces = false }
    try fixture.putOld()
    let outcome = try await fixture.client.outcome(of: left.request())
    #expect(outcome.error?.code == .fileExists && fixture.isOld)
  }

  @Test func `byte limit is kept`() async throws {
    let fixture = try DownloadFixture()
    let left = try await interrupted(fixture) { $0.maximumBytes = Int64(DownloadFixture.size) }
    fixture.answer { $1.resource = RangeResource(size: DownloadFixture.size + 1, seed: 2) }
    let outcome = try await fixture.client.outcome(of: left.request())
    #expect(outcome.error?.code.rawValue == "tooLarge" && fixture.names.isEmpty)
  }

  @Test(arguments: ["", "?id=1"]) func `server still names the file`(query: String) async throws {
    let fixture = try DownloadFixture { number, behaviour in
      behaviour.fields["Content-Disposition"] = Self.bookField
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
    }
    var download = Download.into(fixture.folder, named: .fromServer)
    download.takeUps = 0
    _ = await fixture.client.outcome(of: FileDownload(fixture.server.url + query, download))
    let left = try #require(try InterruptedDownload.all(in: fixture.folder).first)
    #expect(left.file.lastPathComponent.hasSuffix("-file.bin"))
    let file = try await fixture.client.send(left.request())
    #expect(file.url.lastPathComponent == "book.txt" && file.keptBytes > 0 && fixture.names == ["book.txt"])
  }

  /// A client may add arguments to the URL of the record again.
  @Test func `continued part fits every URL`() throws {
    let url = try HTTPURL("https://h.example/export?id=1")
    let path = try Download.into(.temporaryDirectory, named: .fromServer).partTarget(for: url)
    let file = URL(filePath: path, directoryHint: .notDirectory)
    let choices = RecordedChoices(permissions: 0o644, replaces: false, isNamedByServer: true)
    let download = Download.continuing(file, from: url, choices)
    let other = try HTTPURL("https://h.example/export?id=1&app=2")
    #expect(download.isNamedByServer)
    #expect(try download.partTarget(for: other) == path)
  }

  /// A kill during the download of a response to POST leaves such a record.
  @Test func `recorded POST becomes no GET`() async throws {
    let fixture = try DownloadFixture()
    let part = try PartFile.open(target: fixture.file.path)
    try Data(count: 10).withUnsafeBytes { try part.append($0) }
    let post = RequestIdentity(method: "POST", url: fixture.server.url, variant: "0")
    let choices = RecordedChoices(permissions: 0o644, replaces: true)
    try part.commit(
      PartMetadata(request: post, validator: .entityTag("\"v1\""), total: 100, choices: choices, now: 1))
    part.close()
    let left = try #require(try InterruptedDownload.all(in: fixture.folder).first)
    let error = #expect(throws: APIError.self) { try left.request() }
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("“film.bin” was started with the method POST") == true)
  }
}
