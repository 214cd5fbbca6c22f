import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

struct OutboxAccountTests {
  private static func account(of request: RecordedRequest) -> String {
    String((request.headers["Authorization"] ?? "none").split(separator: " ").last ?? "none")
  }

  @Test func `entry waits for its account`() async throws {
    let fixture = try OutboxFixture()
    try await fixture.login("ada")
    let outbox = try fixture.open()
    outbox.pause()
    let ofAda = try await outbox.add(Rename(note: "1", title: "a"))
    try await fixture.accounts.logout()
    try await fixture.login("bo")
    let ofBo = try await outbox.add(Rename(note: "1", title: "b"))
    outbox.resume()
    #expect(await ofBo.outcome.isDelivered)
    #expect(ofAda.state == .queued)
    try await fixture.login("ada")
    #expect(await ofAda.outcome.isDelivered)
    #expect(fixture.server.requests.map(Self.account) == ["bo", "ada"])
    await outbox.close()
  }

  @Test func `entry without an account waits for the logout`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let receipt = try await outbox.add(Rename(title: "x"))
    try await fixture.login("ada")
    outbox.resume()
    outbox.wake()
    let ofAda = try await outbox.add(Rename(note: "2", title: "y"))
    #expect(await ofAda.outcome.isDelivered)
    #expect(receipt.state == .queued)
    try await fixture.accounts.logout()
    #expect(await receipt.outcome.isDelivered)
    #expect(fixture.server.requests.map(Self.account) == ["ada", "none"])
    await outbox.close()
  }

  /// A request that is sent without a credential, but with the cookies of the account.
  struct Anonymous: OutboxRequest {
    var title: String
    var path: Path { "/anonymous" }
    var method: HTTPMethod { .post }
    var credential: RequestCredential { .none }
    typealias Response = Nothing
  }

  /// Adds a request of "ada", and switches to "bo" before the first attempt sends anything.
  private static func add<Request: OutboxRequest>(
    _ request: Request, switching fixture: OutboxFixture
  ) async throws -> (outbox: Outbox, receipt: OutboxReceipt<Request>) {
    let reached = Latch()
    for account in ["ada", "bo"] { try await fixture.login(account) }
    try await fixture.accounts.use("ada")
    fixture.client.configure { $0.interceptors.calls.append(Holding(latch: reached)) }
    let outbox = try fixture.open([Request.self])
    let receipt = try await outbox.add(request)
    #expect(await reached.reached())
    try await fixture.accounts.use("bo")
    reached.open()
    #expect(try await outbox.waits(receipt.id, failures: 1))
    #expect(fixture.server.requests.isEmpty)
    return (outbox, receipt)
  }

  @Test func `request without a credential is sent for its account`() async throws {
    let fixture = try OutboxFixture()
    let (outbox, receipt) = try await Self.add(Anonymous(title: "x"), switching: fixture)
    try await fixture.accounts.use("ada")
    #expect(await receipt.outcome.isDelivered)
    await outbox.close()
  }

  @Test func `switch during the attempt sends nothing for another account`() async throws {
    let fixture = try OutboxFixture()
    let (outbox, receipt) = try await Self.add(Rename(title: "x"), switching: fixture)
    #expect(try await outbox.entry(receipt.id)?.attempts == 0)
    try await fixture.accounts.use("ada")
    #expect(await receipt.outcome.isDelivered)
    #expect(fixture.server.requests.map(Self.account) == ["ada"])
    await outbox.close()
  }

  /// Fetches its credential with another client.
  private struct Fetching: CredentialProvider {
    let account: String? = "ada"
    let tokens: APIClient

    func credential(for account: String?) async throws -> Credential? {
      .bearer(try await tokens.get("/token", as: String.self))
    }
  }

  @Test func `entry waits while the token server rejects`() async throws {
    let fixture = try OutboxFixture()
    let tokens = APIClient(baseURL: "http://tokens.example")
    tokens.configure { $0.transport = .own(ScriptedTransport(.status(404), .text("ada"))) }
    fixture.client.configure { $0.credentials = Fetching(tokens: tokens) }
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    #expect(try await outbox.entry(receipt.id)?.attempts == 0)
    outbox.wake()
    #expect(await receipt.outcome.isDelivered)
    #expect(fixture.server.requests.map(Self.account) == ["ada"])
    await outbox.close()
  }

  @Test(arguments: [ScriptedAnswer.status(404), .failure(.reset), .text("<html>")])
  func `entry waits while an interceptor's call fails`(answer: ScriptedAnswer) async throws {
    let fixture = try OutboxFixture()
    let keys = APIClient(baseURL: "http://keys.example")
    keys.configure { $0.transport = .own(ScriptedTransport(answer, .json(#""key""#))) }
    fixture.client.configure {
      $0.interceptors.exchanges.append(
        Signing { $0.fields["X-Key"] = try await keys.get("/key", as: JSONValue.self).stringValue })
    }
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    #expect(try await outbox.entry(receipt.id)?.attempts == 0)
    #expect(try await outbox.entry(receipt.id)?.mayHaveBeenSent == false)
    #expect(try await fixture.advance(outbox, until: receipt.id))
    #expect(fixture.server.requests.map { $0.headers["X-Key"] } == ["key"])
    await outbox.close()
  }

  @Test func `logout in flight keeps the entry and its key`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { $0.number == 1 ? .stall(until: gate) : .status(204) }
    try await fixture.login("ada")
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    try await fixture.server.request(number: 1)
    try await fixture.accounts.logout()
    #expect(try await outbox.waits(receipt.id, failures: 1))
    #expect(try await outbox.entry(receipt.id)?.mayHaveBeenSent == true)
    try await fixture.login("ada")
    #expect(await receipt.outcome.isDelivered)
    #expect(Set(fixture.keys).count == 1)
    await outbox.close()
  }

  @Test func `rejected credential is refreshed and the entry sent`() async throws {
    let fixture = try OutboxFixture { $0.headers["Authorization"] == "Bearer new" ? .status(204) : .status(401) }
    let accounts = CredentialStore { _, _ in AccountCredential(.bearer("new")) }
    fixture.client.configure { $0.credentials = accounts }
    try await accounts.login("ada", with: AccountCredential(.bearer("old")))
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(await receipt.outcome.isDelivered)
    #expect(Set(fixture.keys).count == 1)
    await outbox.close()
  }

  @Test func `rejected credential spends no attempts`() async throws {
    let fixture = try OutboxFixture { _ in .status(401) }
    try await fixture.login("ada")
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Strict(step: 1))
    for failures in 1...5 {
      #expect(try await outbox.waits(receipt.id, failures: failures))
      outbox.wake()
    }
    #expect(try await outbox.entry(receipt.id)?.attempts == 0)
    #expect(try await outbox.entry(receipt.id)?.reason?.code == .login)
    await outbox.close()
  }

  @Test func `business code of a rejected credential waits for a login`() async throws {
    let fixture = try OutboxFixture { request in
      request.headers["Authorization"] == "Bearer good" ? .status(204) : .json(#"{"code":10401}"#)
    }
    let accounts = CredentialStore { _, _ in
      AccountCredential(.bearer("bad"))
    } isRejection: { response in
      (try? JSONValue(parsing: response.body))?["code"] == 10401
    }
    fixture.client.configure {
      $0.credentials = accounts
      $0.validation.envelope = Envelope(value: "data", code: "code")
    }
    try await accounts.login("ada", with: AccountCredential(.bearer("old")))
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Strict(step: 1))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    #expect(try await outbox.entry(receipt.id)?.reason?.code == .login)
    #expect(try await outbox.entry(receipt.id)?.attempts == 0)
    try await accounts.login("ada", with: AccountCredential(.bearer("good")))
    outbox.wake()
    #expect(await receipt.outcome.isDelivered)
    await outbox.close()
  }

  /// A provider whose account the test changes.
  private final class Session: CredentialProvider {
    let name = Locked<String?>("ada")
    var account: String? { name.withLock { $0 } }
    func credential(for account: String?) async throws -> Credential? { account.map { .bearer($0) } }

    /// An outbox whose client uses this provider. The account changes while a request is added.
    func outbox(in fixture: OutboxFixture, changingTo next: String?) throws -> Outbox {
      fixture.client.configure { $0.credentials = self }
      return try fixture.open {
        $0.onPoint = { point in
          if point == .adding { self.name.withLock { $0 = next } }
        }
      }
    }
  }

  @Test(arguments: ["bo", nil] as [String?]) func `request is not stored for a former account`(next: String?)
    async throws
  {
    let fixture = try OutboxFixture()
    let outbox = try Session().outbox(in: fixture, changingTo: next)
    let error = await #expect(throws: OutboxError.self) { try await outbox.add(Rename(title: "x")) }
    #expect(error?.code == .account && error?.message.hasPrefix("Rename was not stored") == true)
    #expect(try await outbox.summary.counts.isEmpty)
    await outbox.close()
  }

  @Test func `login keeps a request without account`() async throws {
    let fixture = try OutboxFixture()
    let session = Session()
    session.name.withLock { $0 = nil }
    let outbox = try session.outbox(in: fixture, changingTo: "ada")
    outbox.pause()
    let id = try await outbox.add(Rename(title: "x")).id
    let entry = try #require(try await outbox.entry(id))
    #expect(entry.state == .queued && entry.account == nil)
    await outbox.close()
  }

  // MARK: - Logout

  @Test func `logout discards the entries of the account only`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let other = try await outbox.add(Rename(title: "x"))
    try await fixture.login("ada")
    let receipt = try await outbox.add(Rename(title: "y"))
    #expect(try await outbox.prepareLogout(of: "ada", .discard) == 0)
    #expect(await receipt.outcome.state == .cancelled)
    #expect(other.state == .queued)
    await outbox.close()
  }

  @Test func `logout sends the entries first`() async throws {
    let fixture = try OutboxFixture()
    try await fixture.login("ada")
    let outbox = try fixture.open()
    for number in 0..<5 { _ = try await outbox.add(Rename(title: "\(number)")) }
    #expect(try await outbox.prepareLogout(of: "ada", .sendFirst(within: .seconds(10))) == 0)
    #expect(fixture.server.requests.count == 5)
    await outbox.close()
  }

  @Test func `logout waits no longer than allowed`() async throws {
    let fixture = try OutboxFixture { _ in .stall() }
    try await fixture.login("ada")
    let outbox = try fixture.open()
    _ = try await outbox.add(Rename(title: "x"))
    try await fixture.server.request(number: 1)
    let left = Locked<Int?>(nil)
    let drain = Task {
      let count = try await outbox.prepareLogout(of: "ada", .sendFirst(within: .seconds(10)))
      left.withLock { $0 = count }
    }
    let isOver = try await until {
      fixture.clock.advance(by: .seconds(1))
      // Otherwise a day may pass on the clock before the outbox has had its turn, and the server forgets the key.
      try await outbox.handleEvents()
      return left.withLock { $0 } != nil
    }
    #expect(isOver)
    try await drain.value
    #expect(left.withLock { $0 } == 1)
    #expect(try await outbox.prepareLogout(of: "ada", .keep) == 1)
    await outbox.close()
  }
}
