import ErrandCache
@testable import ErrandCore
import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Login, logout and account switch, over real sockets.
struct AccountTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var method = HTTPMethod.get
    var cache = CachePolicy.none
    var joining = JoinRule.inherited
    var overlap: Overlap { Overlap(joining: joining) }
  }

  /// Responds with the received token. `/hold` waits until the test releases it; `/old` accepts only the token "new".
  private final class Server: Sendable {
    let gate = Gate()
    let loopback: LoopbackServer

    init() throws {
      loopback = try LoopbackServer { [gate] request in
        let token = request.headers["Authorization"]?.split(separator: " ").last.map(String.init) ?? "nobody"
        switch request.path {
        case "/hold": return .ok(token).held(at: gate)
        case "/old": return token == "new" ? .ok(token) : .status(401, body: "who?")
        default: return .ok(token)
        }
      }
    }
  }

  private func client(
    _ server: Server, _ accounts: any CredentialProvider, _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.loopback.url)
    configuration.credentials = accounts
    change(&configuration)
    return APIClient(configuration)
  }

  @Test func `login, switch and logout apply immediately`() async throws {
    let (server, accounts) = (try Server(), CredentialStore())
    let client = client(server, accounts)
    #expect(try await client.send(Get()) == "nobody")
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    #expect(try await client.send(Get()) == "a")
    try await accounts.login("bob", with: AccountCredential(.bearer("b")))
    #expect(try await client.send(Get()) == "b")
    try await accounts.use("ada")
    #expect(try await client.send(Get()) == "a" && accounts.accounts == ["ada", "bob"])
    #expect(try await accounts.logout())
    #expect(try await client.send(Get()) == "nobody" && accounts.accounts == ["bob"])
    #expect(try await !accounts.logout("ada"), "a second logout does nothing")
    await #expect(throws: APIError.self) { try await accounts.use("ada") }
    await #expect(throws: APIError.self) { try await accounts.login("", with: AccountCredential(.bearer("x"))) }
  }

  @Test(arguments: [JoinRule.never, .safe]) func `logout cancels only that account's calls`(joining: JoinRule)
    async throws
  {
    let (server, accounts) = (try Server(), CredentialStore())
    let told = Recorded<String>()
    let clients = (0..<2).map { _ in
      client(server, accounts) { configuration in
        configuration.accessories = [Teller(told: told)]
        configuration.admission = AdmissionLimits(perHost: 3, total: 3)
      }
    }
    try await accounts.login("bob", with: AccountCredential(.bearer("b")))
    let bobs = clients.map { client in Task { await client.outcome(of: Get(path: "/hold", joining: joining)) } }
    #expect(await eventually { server.loopback.requests.count == 2 })
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    // More calls than the limit, so some wait in the queue.
    let adas = clients.flatMap { client in
      (0..<5).map { _ in Task { await client.outcome(of: Get(path: "/hold", joining: joining)) } }
    }
    #expect(await eventually { clients.allSatisfy { $0.admitted == 6 || $0.services.joining.counts.waiting == 6 } })
    try await accounts.logout()
    for task in adas {
      let error = await task.value.error
      #expect(error?.stage == .cancelled && error?.code == .loggedOut)
    }
    #expect(clients.allSatisfy { $0.running.count == 1 } && told.all == ["ada", "ada"])
    server.gate.open()
    for task in bobs { #expect(await task.value.value == "b") }
  }

  private struct Teller: Accessory {
    let told: Recorded<String>
    func sessionEnded(of account: String) { told.append(account) }
  }

  @Test func `farewell is sent with the old token`() async throws {
    let (server, accounts) = (try Server(), CredentialStore { _, _ in AccountCredential(.bearer("new")) })
    let client = client(server, accounts)
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    let others = Recorded<String>()
    try await accounts.logout {
      #expect(try await client.send(Get(method: .post)) == "a")
      #expect(try await client.send(Get()) == "a", "also if it shares an exchange")
      #expect(await client.outcome(of: Get(path: "/old")).error?.status == 401, "its 401 starts no refresh")
      let other = Task.detached { try await client.send(Get(path: "/thing", joining: .never)) }
      others.append(try await other.value)
    }
    #expect(others.all == ["nobody"], "other calls are not sent as the old account")
    #expect(try await client.send(Get()) == "nobody")
  }

  @Test func `failed farewell still logs out`() async throws {
    let (server, accounts) = (try Server(), CredentialStore())
    let client = client(server, accounts)
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    await #expect(throws: APIError.self) {
      try await accounts.logout { _ = try await client.send(Get(path: "/old")) }
    }
    #expect(accounts.account == nil && accounts.accounts.isEmpty)
    #expect(try await client.send(Get()) == "nobody")
  }

  @Test func `logout removes stored responses`() async throws {
    let (server, accounts) = (try Server(), CredentialStore())
    let cache = ResponseCache(store: MemoryStore())
    let client = client(server, accounts) { $0.cache.store = .own(cache) }
    let kept = Get(cache: .lifetime(.seconds(600)))
    for name in ["ada", "bob"] {
      try await accounts.login(name, with: AccountCredential(.bearer(name)))
      _ = try await client.send(kept)
    }
    #expect(await cache.entries().count == 2)
    try await accounts.logout("ada") { _ = try await client.send(kept) }
    #expect(await cache.entries().count == 1, "the response of the farewell is removed too")
    try await accounts.login("bob", with: AccountCredential(.bearer("bob")))
    let bobs = try await client.response(kept)
    #expect(bobs.origin == .cacheFresh, "\(bobs.metrics.cache?.reason ?? "")")
    try await accounts.login("ada", with: AccountCredential(.bearer("ada")))
    let adas = try await client.response(kept)
    #expect(adas.origin == .network)
  }

  @Test func `pending response is not stored after logout`() async throws {
    let (server, accounts) = (try Server(), CredentialStore())
    let cache = ResponseCache(store: MemoryStore())
    let client = client(server, accounts) { $0.cache.store = .own(cache) }
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    async let outcome = client.outcome(of: Get(path: "/hold", cache: .lifetime(.seconds(600))))
    #expect(await eventually { server.loopback.requests.count == 1 })
    try await accounts.logout()
    server.gate.open()
    #expect(await outcome.error?.code == .loggedOut)
    #expect(await cache.entries().isEmpty)
  }

  /// A store that signals when it renews a credential, and then waits.
  private static func renewing(_ began: Latch, _ gate: Latch) -> CredentialStore {
    CredentialStore { _, _ in
      began.open()
      try await gate.wait()
      return AccountCredential(.bearer("new"))
    }
  }

  @Test func `logout cancels a refresh`() async throws {
    let server = try Server()
    let (began, gate) = (Latch(), Latch())
    let accounts = Self.renewing(began, gate)
    let client = client(server, accounts)
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    async let outcome = client.outcome(of: Get(path: "/old"))
    try await began.wait()
    try await accounts.logout()
    #expect(await outcome.error?.code == .loggedOut)
    gate.open()
    #expect(accounts.accounts.isEmpty)
    try await accounts.login("ada", with: AccountCredential(.bearer("new")))
    #expect(try await client.send(Get(path: "/old")) == "new", "no state of the old refresh is left")
  }

  @Test func `no request is sent after logout`() async throws {
    let server = try Server()
    let (began, gate) = (Latch(), Latch())
    let accounts = Self.renewing(began, gate)
    let client = client(server, accounts)
    try await accounts.login("ada", with: AccountCredential(.bearer("a"), expires: .distantPast))
    async let outcome = client.outcome(of: Get(method: .post))
    try await began.wait()
    try await accounts.logout()
    #expect(await outcome.error?.code == .loggedOut)
    #expect(server.loopback.requests.isEmpty)
    gate.open()
  }

  @Test func `clients share one refresh`() async throws {
    let server = try Server()
    let count = Recorded<String>()
    let accounts = CredentialStore { old, account in
      count.append(account)
      #expect(old.refreshToken == "r")
      return AccountCredential(.bearer("new"), refreshToken: "r2")
    }
    let clients = (0..<2).map { _ in client(server, accounts) { $0.overlap.joining = .never } }
    try await accounts.login("ada", with: AccountCredential(.bearer("a"), refreshToken: "r"))
    let values = await withTaskGroup { group in
      for number in 0..<200 { group.addTask { await clients[number % 2].outcome(of: Get(path: "/old")).value } }
      return await group.reduce(into: [String?]()) { $0.append($1) }
    }
    #expect(values.allSatisfy { $0 == "new" } && values.count == 200 && count.all == ["ada"])
  }

  @Test func `without renewal a 401 is delivered`() async throws {
    let (server, accounts) = (try Server(), CredentialStore())
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    let error = await client(server, accounts).outcome(of: Get(path: "/old")).error
    #expect(error?.status == 401 && error?.attempts == 1)
  }

  @Test func `credential is refreshed before it expires`() async throws {
    let server = try Server()
    let now = Locked(Date(timeIntervalSince1970: 1_000))
    let accounts = CredentialStore(KeptAccounts(), nil, [], .seconds(30), { now.withLock { $0 } }) { _, _ in
      AccountCredential(.bearer("new"))
    }
    let client = client(server, accounts)
    let ends = Date(timeIntervalSince1970: 2_000)
    try await accounts.login("ada", with: AccountCredential(.bearer("a"), expires: ends))
    #expect(try await client.send(Get()) == "a")
    now.withLock { $0 = Date(timeIntervalSince1970: 1_969) }
    #expect(try await client.send(Get()) == "a")
    now.withLock { $0 = Date(timeIntervalSince1970: 1_971) }
    #expect(try await client.send(Get()) == "new")
  }

  @Test func `credential is sent only to its origins`() async throws {
    let (home, friend, stranger) = (try Server(), try Server(), try Server())
    let origin = try HTTPURL(friend.loopback.url).origin
    let accounts = CredentialStore(origins: [origin])
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    let client = client(home, accounts)
    for (server, token) in [(home, "a"), (friend, "a"), (stranger, "nobody")] {
      let shown = try await client.send(Get(path: RequestPath(server.loopback.url + "/x")))
      #expect(shown == token)
    }
  }

  @Test func `custom provider ends a session explicitly`() async throws {
    let server = try Server()
    let client = client(server, FixedCredential(.bearer("a"), account: "ada"))
    let task = Task { await client.outcome(of: Get(path: "/hold")) }
    #expect(await eventually { server.loopback.requests.count == 1 })
    #expect(await client.endSession(of: "bob") == 0)
    #expect(await client.endSession(of: "ada") == 1)
    #expect(await task.value.error?.code == .loggedOut)
    server.gate.open()
    #expect(try await client.send(Get()) == "a", "a later call succeeds")
  }

  @Test func `session end during call setup is noticed`() async throws {
    let server = try Server()
    let provider = Leaving()
    let client = client(server, provider)
    provider.leave.withLock { $0 = { [sessions = client.services.sessions] in sessions.stop("ada") } }
    defer { provider.leave.withLock { $0 = nil } }
    let error = await client.outcome(of: Get()).error
    #expect(error?.code == .loggedOut && server.loopback.requests.isEmpty)
  }

  /// Its account's session ends while a call asks for the account.
  private final class Leaving: CredentialProvider {
    let leave = Locked<(@Sendable () -> Void)?>(nil)
    var account: String? {
      leave.withLock { $0 }?()
      return "ada"
    }
    func credential(for account: String?) async throws -> Credential? { .bearer("a") }
  }

  // MARK: - Observers and saved accounts

  private final class Keeper: CredentialKeeper {
    let kept = Locked<KeptAccounts?>(nil)
    let fails = Locked(false)
    struct Full: Error {}

    func load() throws -> KeptAccounts? { kept.withLock { $0 } }
    func save(_ accounts: KeptAccounts) throws {
      if fails.withLock({ $0 }) { throw Full() }
      kept.withLock { $0 = accounts }
    }
  }

  @Test func `accounts survive a restart`() async throws {
    let keeper = Keeper()
    let accounts = try await CredentialStore(keeping: keeper)
    try await accounts.login("ada", with: AccountCredential(.bearer("a"), refreshToken: "r"))
    let again = try await CredentialStore(keeping: keeper) { _, _ in AccountCredential(.bearer("new")) }
    #expect(again.account == "ada")
    let server = try Server()
    #expect(try await client(server, again).send(Get(path: "/old")) == "new")
    #expect(keeper.kept.withLock { $0 }?.credentials["ada"]?.credential == .bearer("new"))
    try await again.logout()
    #expect(keeper.kept.withLock { $0 } == KeptAccounts())
  }

  @Test func `account that cannot be saved stays usable`() async throws {
    let keeper = Keeper()
    let accounts = try await CredentialStore(keeping: keeper)
    let changes = accounts.changes
    keeper.fails.withLock { $0 = true }
    await #expect(throws: Keeper.Full.self) { try await accounts.login("ada", with: AccountCredential(.bearer("a"))) }
    #expect(accounts.account == "ada")
    await #expect(throws: Keeper.Full.self) { try await accounts.logout() }
    #expect(accounts.account == nil)
    var heard: [AccountChange] = []
    for await change in changes.prefix(4) { heard.append(change) }
    #expect(heard == [.loggedIn("ada"), .notKept("Full()"), .loggedOut("ada"), .notKept("Full()")])
  }

  @Test func `change stream ends with its store`() async throws {
    var accounts: CredentialStore? = CredentialStore()
    let changes = try #require(accounts).changes
    try await accounts?.login("ada", with: AccountCredential(.bearer("a")))
    try await accounts?.use(nil)
    accounts = nil
    var heard: [AccountChange] = []
    for await change in changes { heard.append(change) }
    #expect(heard == [.loggedIn("ada"), .switched(to: nil)])
  }

  @Test func `logouts race with calls safely`() async throws {
    let (server, accounts) = (try Server(), CredentialStore())
    let client = client(server, accounts)
    await withTaskGroup { group in
      for number in 0..<300 {
        group.addTask {
          switch number % 3 {
          case 0: try? await accounts.login("ada", with: AccountCredential(.bearer("a")))
          case 1: _ = try? await accounts.logout()
          default:
            let outcome = await client.outcome(of: Get(joining: number % 2 == 0 ? .safe : .never))
            #expect(outcome.error.map { $0.code == .loggedOut } ?? ["a", "nobody"].contains(outcome.value))
          }
        }
      }
    }
    #expect(await eventually { client.running.isEmpty && client.admission == (0, 0) })
  }
}

extension APIClient {
  /// The calls that have reached the queue.
  fileprivate var admitted: Int { admission.running + admission.waiting }
}
