import Errand
import ErrandCurl
import ErrandChecksum
import ErrandHTTP
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Failures with the real texts of the transport, the disk and the store, and a marker in every secret place.
struct SecretSocketTests {
  private static let marker = SecretTests.marker

  private static let request = Sending(
    method: .post, arguments: ["token": marker], body: .text(marker), headers: ["X-Api-Key": .secret(marker)],
    credential: .basic(user: "user", password: marker))

  private func client(_ url: String, _ watch: SecretWatch, _ curl: CurlConfiguration? = nil) throws -> APIClient {
    var configuration = ClientConfiguration(baseURL: url)
    configuration.headers = ["Cookie": "sid=\(Self.marker)"]
    if let curl { configuration.transport = .own(try CurlTransport(curl)) }
    watch.attach(to: &configuration)
    return APIClient(configuration)
  }

  /// Sends a request and requires a failure that does not show the marker.
  private func expectSilence(
    _ client: APIClient, _ watch: SecretWatch, options: CallOptions = CallOptions(),
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> APIError {
    let outcome = await client.outcome(of: Self.request, options: options)
    let error = try #require(outcome.error, sourceLocation: sourceLocation)
    watch.note(error)
    watch.expectNoSecret(sourceLocation: sourceLocation)
    return error
  }

  @Test(arguments: WireAttackTests.faults) func `server faults show no secret`(
    fault: WireAttackTests.Fault
  ) async throws {
    let server = try LoopbackServer { _ in fault.answer.setting("Set-Cookie", to: "sid=\(Self.marker)") }
    let watch = SecretWatch()
    let error = try await expectSilence(try client(server.url, watch), watch)
    #expect(error.transportKind == fault.kind)
  }

  @Test func `refused connection shows no secret`() async throws {
    let port = try RefusingPort()
    defer { withExtendedLifetime(port) {} }
    let watch = SecretWatch()
    #expect(try await expectSilence(try client(port.url, watch), watch).transportKind == .refused)
  }

  @Test func `silent server shows no secret`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    let watch = SecretWatch()
    let error = try await expectSilence(try client(server.url, watch), watch, options: .deadline(.milliseconds(50)))
    #expect(error.code == .deadline)
  }

  @Test func `unreachable proxy shows no secret`() async throws {
    let port = try RefusingPort()
    defer { withExtendedLifetime(port) {} }
    let watch = SecretWatch()
    var curl = CurlConfiguration()
    curl.proxy = .url(port.url, user: "user", password: Self.marker)
    let error = try await expectSilence(try client("http://h.example", watch, curl), watch)
    #expect(error.stage == .transport)
    watch.note(curl)
    watch.expectNoSecret()
  }

  @Test func `proxy requiring credentials shows no secret`() async throws {
    let proxy = try LoopbackServer { _ in
      .status(407, headers: ["Proxy-Authenticate": "Basic", "Set-Cookie": "sid=\(Self.marker)"])
    }
    let watch = SecretWatch()
    var curl = CurlConfiguration()
    curl.proxy = .url(proxy.url, user: "user", password: Self.marker)
    _ = try await expectSilence(try client("http://h.example", watch, curl), watch)
    #expect(proxy.requests.contains { $0.headers["Proxy-Authorization"] != nil })
  }

  @Test func `untrusted certificate shows no secret`() async throws {
    let watch = SecretWatch()
    let error = try await expectSilence(try client(try Servers.address("ERRAND_NGINX_TLS"), watch), watch)
    #expect(error.transportKind == .unknownAuthority)
  }

  /// The codes with which a download can fail, and the changes that cause them.
  private static let downloads: [(APIError.Code, @Sendable (inout Download, URL) throws -> Void)] = [
    (.checksumMismatch, { download, _ in download.checksum = try Checksum.sha256(Data(count: 32)) }),
    (.file, { download, folder in download = .to(folder.appending(path: "missing/film")) }),
    (
      .fileExists,
      { download, folder in
        let file = folder.appending(path: "there")
        try Data("old".utf8).write(to: file)
        download = .to(file)
        download.replaces = false
      }
    ),
    (.truncated, { download, _ in download.takeUps = 0 }),
  ]

  @Test(arguments: downloads.indices) func `failed downloads show no secret`(index: Int) async throws {
    let (code, change) = Self.downloads[index]
    let watch = SecretWatch()
    var configuration = ClientConfiguration(baseURL: "")
    configuration.headers = ["X-Api-Key": .secret(Self.marker), "Cookie": "sid=\(Self.marker)"]
    watch.attach(to: &configuration)
    let fixture = try DownloadFixture(size: 5_000, configuration: configuration) { _, behaviour in
      if code == .truncated { behaviour.fault = .cut(after: 1_000) }
    }
    fixture.client.configure { [url = fixture.server.url] in $0.servers.current.baseURL = url }
    var download = Download.to(fixture.file)
    try change(&download, fixture.folder)
    let outcome = await fixture.client.outcome(of: FileDownload(fixture.server.url + "?k=" + Self.marker, download))
    #expect(outcome.error?.code == code)
    if let error = outcome.error { watch.note(error) }
    watch.expectNoSecret()
  }

  @Test func `damaged cache shows no secret`() async throws {
    let folder = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .isDirectory)
    defer { discardFolder(folder) }
    let server = try LoopbackServer { _ in .ok(Self.marker).setting("Set-Cookie", to: "sid=\(Self.marker)") }
    let watch = SecretWatch()
    for round in 0..<3 {
      var configuration = ClientConfiguration(baseURL: server.url)
      configuration.cache.policy = .lifetime(.seconds(600))
      configuration.cache.store = .disk(at: folder)
      watch.attach(to: &configuration)
      let client = APIClient(configuration)
      let request = Sending(
        arguments: ["token": Self.marker], headers: ["X-Api-Key": .secret(Self.marker)],
        credential: .basic(user: "user", password: Self.marker))
      let response = try await client.response(request)
      watch.note(response.raw)
      watch.note(response.metrics)
      if round == 1 { try Self.damage(folder) }
    }
    watch.expectNoSecret()
  }

  /// Overwrites 20 bytes in each file.
  private static func damage(_ folder: URL) throws {
    guard let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else { return }
    for case let file as URL in files {
      guard var bytes = try? Data(contentsOf: file), bytes.count > 40 else { continue }
      bytes.replaceSubrange(20..<40, with: Data(repeating: 0xA5, count: 20))
      try bytes.write(to: file)
    }
  }
}

extension APIError.Code {
  fileprivate static let truncated = Self(rawValue: TransportFailure.Kind.truncated.rawValue)
}
