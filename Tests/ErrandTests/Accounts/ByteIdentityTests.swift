@testable import ErrandCore
import Errand
import ErrandSupport
import ErrandTesting
import ErrandTransfer
import Foundation
import TestSupport
import Testing

/// Accounts, credentials and fields are compared by bytes. Swift considers these two names equal; servers do not.
///
/// ``Table`` lists every place that stores data for an account or a secret. A change that adds such a place adds a
/// case.
struct ByteIdentityTests {
  private static let (one, other) = ("ad\u{e1}", "ada\u{301}")

  /// The places that store data for an account.
  enum Table: CaseIterable {
    case memoryCache, diskCache, keyMemo, joining, cookieJars, refreshing, sessions, removal, accounts, kept, keptFile
    case removalDebts, downloadParts, requiredAccount
  }

  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var cache = CachePolicy.none
    var headers = RequestHeaders()
    var credential = RequestCredential.inherited
  }

  /// Returns a credential for the account that is asked for.
  private final class Named: RefreshingProvider {
    private let present: Locked<String>
    private let renewed = Locked<Set<ByteText>>([])
    let refreshed = Recorded<String>()
    let gate = Latch()

    init(_ name: String) { present = Locked(name) }

    var account: String? { present.withLock { $0 } }
    func become(_ name: String) { present.withLock { $0 = name } }
    func credential(for account: String?) async throws -> Credential? {
      .bearer(renewed.withLock { $0.contains(ByteText(account ?? "")) } ? "new" : "old")
    }
    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      refreshed.append(account ?? "nobody")
      try await gate.wait()
      renewed.withLock { _ = $0.insert(ByteText(account ?? "")) }
      return .bearer("new")
    }
  }

  @Test(arguments: Table.allCases) func `no table mixes two accounts`(_ table: Table) async throws {
    switch table {
    case .memoryCache, .keyMemo: try await cachesApart(.standard)
    case .diskCache, .removal: try await diskApart()
    case .joining: try await callsApart()
    case .cookieJars: try jarsApart()
    case .refreshing: try await refreshedApart()
    case .sessions: try await sessionsApart()
    case .accounts: try await accountsApart()
    case .kept: try keptApart()
    case .keptFile: try await keptFileApart()
    case .removalDebts: try partitionsApart()
    case .downloadParts: try partsApart()
    case .requiredAccount: try await spansApart()
    }
  }

  // MARK: - Tables

  private func client(
    _ server: LoopbackServer, _ provider: any CredentialProvider,
    _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.credentials = provider
    change(&configuration)
    return APIClient(configuration)
  }

  private func cachesApart(_ cache: CacheChoice) async throws {
    let server = try LoopbackServer { .ok("\($0.number)") }
    let provider = Named(Self.one)
    let client = client(server, provider) {
      $0.cache.store = cache
      // A call waits at most 250 ms for the disk. With a clock that stands still, a slow machine does not matter.
      $0.timers = ManualClock()
    }
    let page = Get(cache: .lifetime(.seconds(60)))
    let first = try await client.send(page)
    provider.become(Self.other)
    let second = try await client.send(page)
    #expect(first != second && server.requests.count == 2)
    #expect(try await client.send(page) == second)
    await client.cache?.removeAll(account: Self.one)
    #expect(try await client.send(page) == second)
    provider.become(Self.one)
    #expect(try await client.send(page) != first)
  }

  private func diskApart() async throws {
    let folder = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .isDirectory)
    defer { discardFolder(folder) }
    try await cachesApart(.disk(at: folder, limit: 1 << 20))
  }

  private func callsApart() async throws {
    let gate = Gate()
    let server = try LoopbackServer { .ok("\($0.number)").held(at: gate) }
    let provider = Named(Self.one)
    let client = client(server, provider)
    async let first = client.send(Get())
    try await gate.reached()
    provider.become(Self.other)
    async let second = client.send(Get())
    try await gate.reached(times: 2)
    gate.open()
    #expect(try await first != second && server.requests.count == 2)
  }

  private func jarsApart() throws {
    let jars = CookieJars()
    #expect(jars.jar(of: Self.one) !== jars.jar(of: Self.other))
    let kept = jars.jar(of: Self.other)
    kept.set(try Cookie("sid", "1", host: "h.example"))
    jars.remove(of: Self.one)
    #expect(jars.jar(of: Self.other) === kept && kept.all.count == 1)
  }

  private func refreshedApart() async throws {
    let server = try LoopbackServer { $0.headers["Authorization"] == "Bearer new" ? .ok("in") : .status(401) }
    let provider = Named(Self.one)
    let client = client(server, provider)
    async let first = client.outcome(of: Get())
    #expect(await provider.gate.reached())
    provider.become(Self.other)
    async let second = client.outcome(of: Get(path: "/other"))
    #expect(await provider.gate.reached(2))
    #expect(provider.refreshed.all.count == 2)
    // Ending the session of one account must not cancel the refresh of the other.
    await client.endSession(of: Self.one)
    #expect(await first.error?.code == .loggedOut)
    provider.gate.open()
    #expect(await second.value == "in")
  }

  private func sessionsApart() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("in").held(at: gate) }
    let accounts = CredentialStore()
    let client = client(server, accounts)
    for name in [Self.one, Self.other] { try await accounts.login(name, with: AccountCredential(.bearer("t"))) }
    async let call = client.outcome(of: Get())
    try await gate.reached()
    try await accounts.logout(Self.one)
    gate.open()
    #expect(await call.value == "in")
    #expect(accounts.account.hasSameBytes(as: Self.other))
  }

  private func accountsApart() async throws {
    let accounts = CredentialStore()
    try await accounts.login(Self.one, with: AccountCredential(.bearer("1")))
    try await accounts.login(Self.other, with: AccountCredential(.bearer("2")))
    #expect(accounts.accounts.count == 2)
    #expect(try await accounts.credential(for: Self.one) == .bearer("1"))
    #expect(try await accounts.credential(for: Self.other) == .bearer("2"))
    try await accounts.logout(Self.one)
    #expect(accounts.accounts.haveSameBytes(as: [Self.other]))
  }

  private func keptApart() throws {
    var kept = KeptAccounts(current: Self.other)
    kept[Self.one] = AccountCredential(.bearer("1"))
    kept[Self.other] = AccountCredential(.bearer("2"))
    let read = try JSONDecoder().decode(KeptAccounts.self, from: JSONEncoder().encode(kept))
    #expect(read == kept && read.accounts.count == 2 && read[Self.one]?.credential == .bearer("1"))
    #expect(read.current.hasSameBytes(as: Self.other))
  }

  private func keptFileApart() async throws {
    let file = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    let accounts = try await CredentialStore(keeping: FileCredentialKeeper(file: file))
    try await accounts.login(Self.one, with: AccountCredential(.bearer("1")))
    try await accounts.login(Self.other, with: AccountCredential(.bearer("2")))
    let again = try await CredentialStore(keeping: FileCredentialKeeper(file: file))
    #expect(again.accounts.count == 2 && again.account.hasSameBytes(as: Self.other))
  }

  private func partitionsApart() throws {
    #expect(AccountChange.loggedIn(Self.one) != .loggedIn(Self.other))
    #expect(Set([ByteText(Self.one), ByteText(Self.other)]).count == 2)
  }

  private func partsApart() throws {
    let url = try HTTPURL("http://h.example/file")
    let identities = [Self.one, Self.other].map {
      RequestIdentity(method: .get, url: url, fields: HTTPFields(), account: $0)
    }
    #expect(identities[0] != identities[1])
    #expect(identities[0].naming(Self.one) != identities[0].naming(Self.other))
  }

  private func spansApart() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("in").held(at: gate) }
    let accounts = CredentialStore()
    let client = client(server, accounts)
    for name in [Self.other, Self.one] { try await accounts.login(name, with: AccountCredential(.bearer("t"))) }
    async let outcomes = client.outcomes(of: [Get(), Get(path: "/next")], width: 1)
    try await gate.reached()
    try await accounts.use(Self.other)
    gate.open()
    let codes = await outcomes.map { outcome in
      if case .failure(let error) = outcome { error.code } else { APIError.Code?.none }
    }
    #expect(codes == [nil, .loggedOut])
  }

  // MARK: - Values

  @Test func `credentials and fields compare by bytes`() throws {
    #expect(Credential.bearer(Self.one) != .bearer(Self.other))
    #expect(Credential.basic(user: Self.one, password: "p") != .basic(user: Self.other, password: "p"))
    #expect(Credential.basic(user: "u", password: Self.one) != .basic(user: "u", password: Self.other))
    #expect(RequestCredential.bearer(Self.one) != .bearer(Self.other))
    #expect(HTTPField("X", Self.one) != HTTPField("X", Self.other))
    #expect(HTTPFields([HTTPField("X", Self.one)]) != HTTPFields([HTTPField("X", Self.other)]))
    #expect(RequestHeaders.FieldValue.secret(Self.one) != .secret(Self.other))
    let headers: [RequestHeaders] = [["X": .text(Self.one)], ["X": .text(Self.other)]]
    #expect(Set(headers).count == 2)
    let cookies = try [Self.one, Self.other].map { try Cookie("sid", $0, host: "h.example") }
    #expect(cookies[0] != cookies[1] && Set(cookies).count == 2)
    let tokens = [Self.one, Self.other].map { AccountCredential(.bearer("t"), refreshToken: $0) }
    #expect(tokens[0] != tokens[1])
    #expect(Credential.bearer(Self.one) == .bearer("ad\u{e1}"))
  }

  @Test(arguments: [true, false]) func `own credentials and fields stay separate`(isField: Bool) async throws {
    let gate = Gate()
    let server = try LoopbackServer { .ok("\($0.number)").held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let pages = [Self.one, Self.other].map { text in
      isField
        ? Get(cache: .lifetime(.seconds(60)), headers: ["Cookie": .text("sid=\(text)")])
        : Get(cache: .lifetime(.seconds(60)), credential: .basic(user: text, password: "p"))
    }
    async let first = client.send(pages[0])
    try await gate.reached()
    async let second = client.send(pages[1])
    try await gate.reached(times: 2)
    gate.open()
    let texts = try await [first, second]
    for (page, text) in zip(pages, texts) { #expect(try await client.send(page) == text) }
    #expect(texts[0] != texts[1] && server.requests.count == 2)
  }

  @Test func `Vary compares by bytes`() async throws {
    let server = try LoopbackServer { .ok("\($0.number)").setting("Vary", to: "X-Name") }
    let client = APIClient(baseURL: server.url)
    let pages = [Self.one, Self.other].map { Get(cache: .lifetime(.seconds(60)), headers: ["X-Name": .text($0)]) }
    let first = try await client.send(pages[0])
    #expect(try await client.send(pages[1]) != first)
    #expect(server.requests.count == 2)
  }
}
