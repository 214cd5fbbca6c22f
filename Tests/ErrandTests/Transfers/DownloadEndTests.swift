import Errand
import ErrandCache
import ErrandChecksum
import ErrandCore
import ErrandSupport
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing
import TestSupport

/// The state of the bytes when the end of a download fails or is stopped.
struct DownloadEndTests {
  /// Blocks the calls of one operation until the test releases them.
  private final class Hold: Sendable {
    let reached = Latch()
    private let semaphore = DispatchSemaphore(value: 0)
    private let operation: FileFailure.Operation

    init(_ operation: FileFailure.Operation) { self.operation = operation }

    var files: HookedFiles {
      HookedFiles { [self] _, operation, _ in
        if operation == self.operation {
          reached.open()
          semaphore.wait()
          semaphore.signal()
        }
        return nil
      }
    }

    func open() { semaphore.signal() }
  }

  @Test(arguments: [202, 204]) func `success without a file is an error`(status: Int) async throws {
    let server = try LoopbackServer { _ in .status(status) }
    let file = FileManager.default.temporaryDirectory.appending(path: "none-\(UUID().uuidString)")
    let outcome = await APIClient(baseURL: server.url).outcome(of: FileDownload("/film", .to(file)))
    let error = try #require(outcome.error)
    #expect(error.stage == .validate && error.code == .status && error.status == status)
    #expect(error.message.contains("\(status)") && error.message.contains("carries no file"), "\(error)")
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  /// A download whose value does not contain the file.
  private struct Fetch: APIRequest {
    let file: URL
    var path: Path { "/film" }
    var download: Download? { .to(file) }
    typealias Response = Nothing
  }

  @Test(arguments: [202, 204]) func `ignored value needs a file too`(status: Int) async throws {
    let server = try LoopbackServer { _ in .status(status) }
    let file = FileManager.default.temporaryDirectory.appending(path: "none-\(UUID().uuidString)")
    let error = await APIClient(baseURL: server.url).outcome(of: Fetch(file: file)).error
    #expect(error?.stage == .validate && error?.code == .status && error?.status == status)
    #expect(error?.message.contains("carries no file") == true)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func `empty page is no film`() async throws {
    struct Film: APIRequest {
      let file: URL
      var path: Path { "/film" }
      var download: Download? { .to(file) }
      var validation: ResponseValidation { ResponseValidation(contentTypes: ["video/*"]) }
      typealias Response = DownloadedFile
    }
    let server = try LoopbackServer { _ in .status(200, headers: ["Content-Type": "text/html"]) }
    let file = FileManager.default.temporaryDirectory.appending(path: "none-\(UUID().uuidString)")
    let error = await APIClient(baseURL: server.url).outcome(of: Film(file: file)).error
    #expect(error?.stage == .validate && error?.code == .contentType)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  private struct Answering: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      HTTPResponse(head: ResponseHead(status: 200), body: Data("made here".utf8), url: request.url)
    }
  }

  @Test func `interceptor's own response is no file`() async throws {
    let client = APIClient(baseURL: "http://h.example")
    client.configure { $0.interceptors.calls = [Answering()] }
    let file = FileManager.default.temporaryDirectory.appending(path: "none-\(UUID().uuidString)")
    for error in [
      await client.outcome(of: Fetch(file: file)).error,
      await client.outcome(of: FileDownload("/film", .to(file))).error,
    ] {
      #expect(error?.stage == .interceptor && error?.message.contains("the response of `next`") == true)
    }
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test(arguments: [true, false])
  func `empty range keeps the part file`(hasChecksum: Bool) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { _, behaviour in
      // The end of the connection ends the body.
      behaviour.framing = .close
      behaviour.fault = .cut(after: 0)
    }
    let checksum = try fixture.checksum()
    let outcome = await fixture.send { if hasChecksum { $0.checksum = checksum } }
    #expect(outcome.error?.transportKind == .truncated)
    #expect(try fixture.keptBytes == 1_000_000)
    fixture.answer()
    #expect(try await fixture.send().result.get().keptBytes == 1_000_000)
    #expect(fixture.isRight())
  }

  @Test func `unnamed file is kept completely`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture(size: 900_000) { $1.fault = .stall(after: 500_000, until: gate) }
    async let outcome = fixture.send { $0.replaces = false }
    try await gate.reached()
    try fixture.putOld()
    gate.open()
    #expect(await outcome.error?.code == .fileExists)
    try FileManager.default.removeItem(at: fixture.file)
    let file = try await fixture.send { $0.replaces = false }.result.get()
    #expect(fixture.isRight() && file.keptBytes == 900_000 && file.fetchedBytes == 0)
  }

  @Test func `pause during the rename lets it finish`() async throws {
    let hold = Hold(.rename)
    // A record is renamed too. With this clock no record is written before the end, however long the download takes.
    let configuration = DownloadFixture.configuration(ManualClock())
    let fixture = try DownloadFixture(size: 900_000, files: hold.files, configuration: configuration)
    let download = fixture.client.download(fixture.request())
    try await hold.reached.wait()
    let pausing = Task { await download.pause() }
    #expect(await eventually { download.phase == .pausing })
    hold.open()
    await pausing.value
    #expect(download.phase == .ended)
    #expect(try await download.value().bytes == 900_000 && fixture.isRight())
  }

  @Test func `cancel ends hashing`() async throws {
    let hold = Hold(.read)
    let fixture = try DownloadFixture(size: 20 << 20, files: hold.files)
    let checksum = try fixture.checksum()
    let task = Task { await fixture.send { $0.checksum = checksum } }
    try await hold.reached.wait()
    task.cancel()
    hold.open()
    #expect(await task.value.error?.code == .cancelled)
    #expect(try await fixture.send { $0.checksum = checksum }.result.get().checkedBy == ["sha-256"])
    #expect(fixture.isRight())
  }

  @Test func `too large file keeps another URL's part`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    let other = try LoopbackServer { _ in .generated(count: 2_000_000) }
    var download = Download.to(fixture.file)
    download.maximumBytes = 1_000_000
    let error = await fixture.client.outcome(of: FileDownload(other.url, download)).error
    #expect(error?.code.rawValue == "tooLarge")
    #expect(try fixture.keptBytes == 1_000_000)
  }

  @Test(arguments: ["Repr-Digest", "Content-Digest"], [true, false])
  func `digest in trailers is verified`(name: String, isRight: Bool) async throws {
    let hash = try DigestAlgorithm.sha256.makeHash()
    Data((isRight ? "film" : "other").utf8).withUnsafeBytes { hash.update($0) }
    let value = "sha-256=:\(hash.finish().base64EncodedString()):"
    let server = try LoopbackServer { _ in .chunked(["fi", "lm"], trailers: [name: value]) }
    let fixture = try DownloadFixture()
    var download = Download.to(fixture.file)
    download.digests = .standard
    let outcome = await fixture.client.outcome(of: FileDownload(server.url, download))
    #expect(outcome.error?.code == (isRight ? nil : .checksumMismatch))
    #expect(outcome.value?.checkedBy == (isRight ? ["sha-256"] : nil))
  }

  @Test(arguments: [404, 503]) func `large error page reports its status`(status: Int) async throws {
    let fixture = try DownloadFixture { _, behaviour in behaviour.fault = .status(status) }
    let server = try LoopbackServer { _ in .data(Data(repeating: 0x61, count: 3 << 20), status: status) }
    let error = await fixture.client.outcome(of: FileDownload(server.url, .to(fixture.file))).error
    #expect(error?.stage == .validate && error?.status == status)
    #expect(error?.response?.body.count == 1 << 20 && fixture.names.isEmpty)
  }

  @Test func `client's envelope does not apply to files`() async throws {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.validation.envelope = Envelope(value: "data", code: "code")
    let fixture = try DownloadFixture(configuration: configuration)
    #expect(try await fixture.send().result.get().bytes == 3_000_000 && fixture.isRight())
  }

  @Test func `endless redirect body is skipped`() async throws {
    let fixture = try DownloadFixture()
    var endless = LoopbackAnswer.endless(chunked: true)
    endless.steps[0] = .head(
      status: 302, headers: ["Location": fixture.server.url, "Transfer-Encoding": "chunked"])
    let first = try LoopbackServer { [endless] _ in endless }
    let outcome = await fixture.client.outcome(of: FileDownload(first.url, .to(fixture.file)))
    #expect(try outcome.result.get().bytes == 3_000_000 && fixture.isRight())
    first.stop()
  }
}
