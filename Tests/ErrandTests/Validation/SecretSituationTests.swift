import Errand
import ErrandBackground
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

/// Failures that need more than one call or response, with a marker in every secret place.
struct SecretSituationTests {
  private static let marker = SecretTests.marker
  private let watch = SecretWatch()

  private static let request = Sending(
    method: .post, arguments: ["token": marker], body: .text(marker), headers: ["X-Own-Key": .secret(marker)])

  private func configuration(_ url: String) -> ClientConfiguration {
    var configuration = ClientConfiguration(baseURL: url)
    configuration.headers = ["X-Api-Key": .secret(Self.marker), "Cookie": "sid=\(Self.marker)"]
    configuration.credentials = FixedCredential(.bearer(Self.marker))
    watch.attach(to: &configuration)
    return configuration
  }

  /// Checks that the call failed as expected and that nothing shows the marker.
  private func expectSilence(
    _ error: APIError?, _ code: APIError.Code, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(error?.code == code, sourceLocation: sourceLocation)
    if let error { watch.note(error) }
    watch.expectNoSecret(sourceLocation: sourceLocation)
  }

  // MARK: - Calls

  @Test func `logout shows no secret`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    let accounts = CredentialStore()
    var configuration = configuration(server.url)
    configuration.credentials = accounts
    let client = APIClient(configuration)
    try await accounts.login("ada", with: AccountCredential(.bearer(Self.marker)))
    async let outcome = client.outcome(of: Self.request)
    let sent = try await server.request(number: 1)
    #expect(sent.headers["Authorization"] == "Bearer \(Self.marker)")
    try await accounts.logout()
    expectSilence(await outcome.error, .loggedOut)
  }

  @Test func `call of a drained client shows no secret`() async throws {
    let client = APIClient(configuration("http://127.0.0.1:1"))
    await client.drain(within: .seconds(30))
    expectSilence(await client.outcome(of: Self.request).error, .draining)
  }

  @Test func `repeated call shows no secret`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    let client = APIClient(configuration(server.url))
    let search = RepeatedSearch(text: Self.marker, repeats: .ignoreNew)
    async let first = client.outcome(of: search)
    try await server.request(number: 1)
    expectSilence(await client.outcome(of: search).error, .repeated)
    client.cancelAll()
    expectSilence(await first.error, .cancelled)
    #expect(server.requests.count == 1)
  }

  /// A list whose every page leads to itself.
  private struct Circle: PagedRequest {
    var path: Path { "/circle" }
    var arguments: Arguments { ["token": SecretTests.marker] }
    typealias Response = [Int]
    func items(of page: [Int]) -> [Int] { page }
    func next(after page: APIResponse<[Int]>) -> Circle? { self }
  }

  @Test func `list without end shows no secret`() async throws {
    let server = try LoopbackServer { _ in .json("[1]") }
    let client = APIClient(configuration(server.url))
    let error = await #expect(throws: APIError.self) {
      for try await _ in client.pages(of: Circle()) {}
    }
    expectSilence(error, .pageLoop)
  }

  @Test func `error of a step shows no secret`() async throws {
    let server = try LoopbackServer { _ in .ok("ok") }
    let client = APIClient(configuration(server.url))
    let outcome = await client.outcome(
      of: Chain { (chain) async throws -> Void in
        _ = try await chain.send(Self.request)
        throw SecretScene.Leak()
      })
    watch.note(outcome)
    expectSilence(outcome.error, .step)
    #expect(server.requests.count == 1)
  }

  @Test func `too small batch shows no secret`() async throws {
    let server = try LoopbackServer { _ in .ok("ok") }
    let client = APIClient(configuration(server.url))
    let error = await #expect(throws: APIError.self) { _ = try await client.atLeast(2, of: [Self.request]) }
    expectSilence(error, .tooFew)
    #expect(server.requests.isEmpty)
  }

  // MARK: - Downloads

  private func fixture(
    files: any TransferFiles = SystemFiles(),
    _ plan: @escaping @Sendable (Int, inout RangeBehaviour) -> Void = { _, _ in }
  ) throws -> DownloadFixture {
    let fixture = try DownloadFixture(files: files, configuration: configuration(""), plan)
    fixture.client.configure { [url = fixture.server.url] in $0.servers.current.baseURL = url }
    return fixture
  }

  private func send(_ fixture: DownloadFixture) async -> Outcome<DownloadedFile> {
    await fixture.client.outcome(
      of: FileDownload(fixture.server.url + "?k=" + Self.marker, Download.to(fixture.file)))
  }

  @Test func `busy target shows no secret`() async throws {
    let gate = Gate()
    let fixture = try fixture { $1.fault = .stall(after: 1_000_000, until: gate) }
    async let first = send(fixture)
    try await gate.reached()
    expectSilence(await send(fixture).error, .busy)
    gate.open()
    #expect(await first.error == nil && fixture.isRight())
  }

  @Test func `full disk shows no secret`() async throws {
    let fixture = try fixture(files: HookedFiles { _, operation, _ in operation == .reserve ? ENOSPC : nil })
    expectSilence(await send(fixture).error, .diskFull)
  }

  @Test func `wrong range shows no secret`() async throws {
    let fixture = try fixture { number, behaviour in
      behaviour.deviation = number.isMultiple(of: 2) ? .movedPart(by: 5) : nil
      behaviour.fault = number.isMultiple(of: 2) ? nil : .cut(after: 1_000_000)
    }
    expectSilence(await send(fixture).error, .resumeMismatch)
  }

  @Test func `lost background download shows no secret`() async throws {
    let fixture = try BackgroundFixture {
      let transport = $0.transport
      $0 = configuration("https://h.example")
      $0.transport = transport
    }
    let id = try await fixture.launch().start(fixture.request("/film?token=\(Self.marker)")).id
    #expect(fixture.session.orders.count == 1 && !fixture.written.contains(Self.marker))
    fixture.session.lose(id)
    let downloads = fixture.launch()
    #expect(await downloads.running.map(\.id) == [id])
    fixture.session.report(.allReported)
    await downloads.eventsHandled()
    guard case .failure(let error)? = await fixture.next()?.result else {
      Issue.record("the download is not lost")
      return
    }
    expectSilence(error, .interrupted)
  }
}
