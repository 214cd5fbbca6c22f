import Errand
import ErrandCore
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Renewals and farewells combined with other events: cancelling all calls, a logout from inside, a task that outlives
/// them.
struct SessionEdgeTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var joining = JoinRule.never
    var overlap: Overlap { Overlap(joining: joining) }
  }

  private struct OAuthFailure: Error {
    let words: String
  }

  /// Responds with the received token. `/new` accepts only the token "new"; `/token` waits until the test opens the
  /// gate.
  private let gate = Gate()
  private let server: LoopbackServer
  private let auth: APIClient

  init() throws {
    server = try LoopbackServer { [gate] request in
      let token = request.headers["Authorization"]?.split(separator: " ").last.map(String.init) ?? "nobody"
      switch request.path {
      case "/token": return .ok("new").held(at: gate)
      case "/new": return token == "new" ? .ok(token) : .status(401)
      default: return .ok(token)
      }
    }
    auth = APIClient(baseURL: server.url)
  }

  private func client(_ accounts: CredentialStore) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.credentials = accounts
    return APIClient(configuration)
  }

  private func loggedIn(_ accounts: CredentialStore) async throws -> APIClient {
    try await accounts.login("ada", with: AccountCredential(.bearer("old"), refreshToken: "RT-MARKER"))
    return client(accounts)
  }

  @Test(arguments: [true, false]) func `cancelling all calls spares the renewal`(isSame: Bool) async throws {
    let sender = Locked(auth)
    let accounts = CredentialStore { _, _ in
      AccountCredential(.bearer(try await sender.withLock { $0 }.send(Get(path: "/token"))))
    }
    let client = try await loggedIn(accounts)
    if isSame { sender.withLock { $0 = client } }
    async let first = client.outcome(of: Get(path: "/new"))
    try await gate.reached()
    #expect(client.cancelAll() == 1)
    if !isSame { #expect(auth.cancelAll() == 0) }
    #expect(await first.error?.isCancelled == true)
    async let second = client.outcome(of: Get(path: "/new"))
    gate.open()
    #expect(await second.value == "new")
    #expect(server.requests.filter { $0.path == "/token" }.count == 1)
  }

  @Test func `cancelled renewal is not remembered`() async throws {
    let turns = Locked(0)
    let accounts = CredentialStore { _, _ in
      if turns.withLock({
        $0 += 1; return $0
      }) == 1 {
        throw CancellationError()
      }
      return AccountCredential(.bearer("new"))
    }
    let client = try await loggedIn(accounts)
    let error = await client.outcome(of: Get(path: "/new")).error
    #expect(error?.code == .refreshUnavailable && error?.cause is CancellationError, "nobody has to log in again")
    #expect(await client.outcome(of: Get(path: "/new")).value == "new")
  }

  @Test func `replaced credential is not renewed`() async throws {
    let renewed = Recorded<String>()
    let accounts = CredentialStore { _, account in
      renewed.append(account)
      return AccountCredential(.bearer("renewed"))
    }
    try await accounts.login("ada", with: AccountCredential(.bearer("new")))
    #expect(try await accounts.refresh(.bearer("old"), for: "ada") == .bearer("new"))
    #expect(renewed.all.isEmpty)
    #expect(try await accounts.refresh(.bearer("new"), for: "ada") == .bearer("renewed"))
  }

  @Test func `logout inside a renewal runs its farewell`() async throws {
    let parts = Locked<(accounts: CredentialStore, client: APIClient)?>(nil)
    let farewells = Recorded<String>()
    let accounts = CredentialStore { _, account in
      if let parts = parts.withLock({ $0 }) {
        try await parts.accounts.logout(account) { farewells.append(try await parts.client.send(Get())) }
      }
      throw OAuthFailure(words: "revoked")
    }
    let client = try await loggedIn(accounts)
    parts.withLock { $0 = (accounts, client) }
    #expect(await client.outcome(of: Get(path: "/new")).error?.code == .loggedOut)
    #expect(await eventually { farewells.all == ["old"] }, "\(farewells.all)")
  }

  @Test func `task after a farewell uses current account`() async throws {
    let accounts = CredentialStore()
    let client = try await loggedIn(accounts)
    let latch = Latch()
    let later = Locked<Task<String?, Never>?>(nil)
    try await accounts.logout {
      #expect(await client.outcome(of: Get()).value == "old")
      later.withLock {
        $0 = Task {
          try? await latch.wait()
          return await client.outcome(of: Get()).value
        }
      }
    }
    try await accounts.login("bob", with: AccountCredential(.bearer("bobs")))
    latch.open()
    #expect(await later.withLock { $0 }?.value == "bobs")
  }

  @Test func `refresh token is masked in errors`() async throws {
    let accounts = CredentialStore { old, _ in throw OAuthFailure(words: "grant \(old.refreshToken ?? "") is gone") }
    let error = await (try loggedIn(accounts)).outcome(of: Get(path: "/new")).error
    #expect(error?.code == .refreshFailed)
    #expect(error?.message.contains("is gone") == true && error?.message.contains("RT-MARKER") == false)
  }

  @Test func `refresh token is masked if saving fails`() async throws {
    struct Keeper: CredentialKeeper {
      func load() throws -> KeptAccounts? { nil }
      func save(_ accounts: KeptAccounts) throws {
        throw OAuthFailure(words: "cannot keep \(accounts.credentials["ada"]?.refreshToken ?? "")")
      }
    }
    let accounts = try await CredentialStore(keeping: Keeper())
    var changes = accounts.changes.makeAsyncIterator()
    await #expect(throws: OAuthFailure.self) { _ = try await loggedIn(accounts) }
    while let change = await changes.next() {
      guard case .notKept(let words) = change else { continue }
      #expect(words.contains("cannot keep") && !words.contains("RT-MARKER"))
      return
    }
  }
}
