@testable import ErrandCore
import Errand
import ErrandTesting
import ErrandSupport
import Foundation
import Testing
import TestSupport

/// Credentials that expire, over real sockets: one refresh for all waiting calls.
struct RefreshTests {
  /// Tokens are numbers; the server accepts only the current one.
  private final class Tokens: RefreshingProvider {
    let refreshed = Recorded<String>()
    let gate = Latch()
    private let present = Locked(0)
    private let fails: Bool
    private let expires: Bool

    init(fails: Bool = false, expires: Bool = false, isHeld: Bool = false) {
      self.fails = fails
      self.expires = expires
      if !isHeld { gate.open() }
    }

    struct Refused: Error {}

    var account: String? { "ada" }
    func credential(for account: String?) async throws -> Credential? { .bearer("\(present.withLock { $0 })") }
    func isExpiring(_ credential: Credential) -> Bool { expires && credential == .bearer("0") }

    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      refreshed.append(account ?? "nobody")
      try await gate.wait()
      if fails { throw Refused() }
      return .bearer("\(present.withLock { $0 += 1; return $0 })")
    }

    /// Simulates another login.
    func renew() { present.withLock { $0 += 1 } }
  }

  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var method = HTTPMethod.get
    var body: RequestBody?
    var joining = JoinRule.never
    var credential = RequestCredential.inherited
    var overlap: Overlap { Overlap(joining: joining) }
  }

  /// Accepts tokens from `least` upwards.
  private func server(least: Int = 1) throws -> LoopbackServer {
    try LoopbackServer { request in
      let token = request.headers["Authorization"]?.split(separator: " ").last.flatMap { Int($0) } ?? -1
      return token >= least ? .ok("token \(token)") : .status(401, body: "who?")
    }
  }

  /// - Parameter clock: The clock of the client; nil for the real one.
  private func client(
    _ server: LoopbackServer, _ tokens: any CredentialProvider, _ clock: ManualClock? = nil
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.credentials = tokens
    configuration.timers = clock
    configuration.admission = AdmissionLimits(perHost: 32, total: 32)
    return APIClient(configuration)
  }

  @Test func `rejected call is repeated once`() async throws {
    let (server, tokens) = (try server(), Tokens())
    let outcome = await client(server, tokens).outcome(of: Get(method: .post, body: .text("body")))
    #expect(outcome.value == "token 1")
    #expect(outcome.metrics.attempts == 2 && tokens.refreshed.all == ["ada"])
    #expect(server.requests.allSatisfy { $0.bodyText == "body" })
  }

  @Test func `a thousand calls need one refresh`() async throws {
    let (server, tokens) = (try server(), Tokens())
    let client = client(server, tokens)
    let values = await withTaskGroup { group in
      for _ in 0..<1_000 { group.addTask { await client.outcome(of: Get()).value } }
      return await group.reduce(into: [String?: Int]()) { $0[$1, default: 0] += 1 }
    }
    #expect(values == ["token 1": 1_000])
    #expect(tokens.refreshed.count == 1)
    #expect(server.requests.count <= 2_000)
  }

  @Test func `call with old credential only repeats`() async throws {
    let (server, tokens) = (try server(), Tokens())
    let latch = Latch()
    let client = client(server, tokens)
    client.configure { $0.interceptors.exchanges = [Held(latch: latch)] }
    async let outcome = client.outcome(of: Get())
    await latch.reached()
    tokens.renew()
    latch.open()
    #expect(await outcome.value == "token 1")
    #expect(tokens.refreshed.count == 0)
  }

  private struct Held: Interceptor {
    let latch: Latch

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      try await latch.wait()
      return try await next(request)
    }
  }

  @Test func `failed refresh reaches all callers`() async throws {
    let (server, tokens) = (try server(), Tokens(fails: true, isHeld: true))
    // A failed refresh is remembered for ten seconds.
    let client = client(server, tokens, ManualClock())
    async let outcomes = withTaskGroup { group in
      for _ in 0..<20 { group.addTask { await client.outcome(of: Get()).error } }
      return await group.reduce(into: [APIError?]()) { $0.append($1) }
    }
    #expect(await eventually { server.requests.count == 20 && client.admission == (0, 0) })
    tokens.gate.open()
    for error in await outcomes {
      #expect(error?.stage == .authorize && error?.code == .refreshFailed && error?.cause is Tokens.Refused)
    }
    #expect(await client.outcome(of: Get()).error?.code == .refreshFailed, "calls shortly afterwards fail too")
    #expect(tokens.refreshed.count == 1)
  }

  @Test func `second 401 is delivered`() async throws {
    let (server, tokens) = (try server(least: 1_000), Tokens())
    // The number of refreshes within thirty seconds is limited.
    let client = client(server, tokens, ManualClock())
    for _ in 0..<8 {
      let error = await client.outcome(of: Get()).error
      #expect(error?.status == 401 && error?.response?.body == Data("who?".utf8))
    }
    #expect(tokens.refreshed.count == 5, "the number of refreshes is limited if the server accepts none")
    #expect(server.requests.count == 5 * 2 + 3)
  }

  @Test func `cancelled waiter leaves the refresh running`() async throws {
    let (server, tokens) = (try server(), Tokens(isHeld: true))
    let (client, clock) = (client(server, tokens), ManualClock())
    client.configure { $0.timers = clock }
    async let first = client.outcome(of: Get(), options: .tag("first"))
    #expect(await eventually { tokens.refreshed.count == 1 })
    async let second = client.outcome(of: Get(), options: .tag("second"))
    async let late = client.outcome(of: Get(), options: .deadline(.milliseconds(300)))
    #expect(await eventually { server.requests.count == 3 && client.admission == (0, 0) })
    client.cancel(tag: "first")
    #expect(await first.error?.isCancelled == true)
    clock.advance(by: .milliseconds(300))
    #expect(await late.error?.stage == .deadline)
    tokens.gate.open()
    #expect(await second.value == "token 1")
    #expect(tokens.refreshed.count == 1)
  }

  @Test func `deadline leaves a hanging refresh`() async throws {
    let (server, tokens) = (try server(), Tokens(isHeld: true))
    let client = client(server, tokens)
    let start = ContinuousClock.now
    let outcome = await client.outcome(of: Get(), options: .deadline(.milliseconds(300)))
    #expect(outcome.error?.stage == .deadline)
    #expect(start.duration(to: .now) >= .milliseconds(300))
    tokens.gate.open()
    #expect(await client.outcome(of: Get()).value == "token 1")
    #expect(tokens.refreshed.count == 1)
  }

  @Test func `credential is refreshed before it expires`() async throws {
    let (server, tokens) = (try server(), Tokens(expires: true))
    let outcome = await client(server, tokens).outcome(of: Get())
    #expect(outcome.value == "token 1" && outcome.metrics.attempts == 1)
    #expect(tokens.refreshed.count == 1)
  }

  @Test func `failed early refresh uses the old credential`() async throws {
    let (lenient, strict, tokens) = (try server(least: 0), try server(), Tokens(fails: true, expires: true))
    let clock = ManualClock()
    // A failed refresh is remembered for ten seconds.
    let (kind, stern) = (client(lenient, tokens, clock), client(strict, tokens, clock))
    #expect(await kind.outcome(of: Get()).value == "token 0", "the old credential is still accepted")
    #expect(await stern.outcome(of: Get()).error?.code == .refreshFailed)
    #expect(tokens.refreshed.count == 1, "another client does not repeat a refresh that has just failed")
  }

  @Test func `request's own credential is not refreshed`() async throws {
    let (server, tokens) = (try server(), Tokens())
    for credential in [RequestCredential.none, .own(.bearer("0"))] {
      #expect(await client(server, tokens).outcome(of: Get(credential: credential)).error?.status == 401)
    }
    #expect(tokens.refreshed.count == 0)
  }

  @Test func `one-shot body is not sent again`() async throws {
    let (server, tokens) = (try server(), Tokens())
    let stream = AsyncStream<Data> {
      $0.yield(Data("once".utf8))
      $0.finish()
    }
    let error = await client(server, tokens).outcome(of: Get(method: .put, body: .pieces(stream))).error
    #expect(error?.status == 401 && tokens.refreshed.count == 0)
  }

  /// Requests a token by a call that uses the old one.
  private final class Asking: RefreshingProvider {
    let client = Locked<APIClient?>(nil)
    let account: String? = nil
    func credential(for account: String?) async throws -> Credential? { .bearer("0") }
    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      _ = try await client.withLock { $0 }?.send(Get(path: "/token", method: .post))
      return .bearer("1")
    }
  }

  @Test func `refresh does not wait for itself`() async throws {
    let (server, asking) = (try server(), Asking())
    let client = client(server, asking)
    asking.client.withLock { $0 = client }
    let error = await client.outcome(of: Get()).error
    #expect(error?.code == .refreshFailed)
    #expect((error?.cause as? APIError)?.status == 401)
    #expect(server.requests.map(\.path) == ["/thing", "/token"])
    asking.client.withLock { $0 = nil }
  }

  @Test func `errors and logs contain no secret`() async throws {
    let (server, tokens) = (try server(), Tokens(fails: true))
    let lines = Recorded<String>()
    let client = client(server, tokens)
    client.configure { $0.log = { lines.append("\($0)") } }
    let error = await client.outcome(of: Get()).error
    var told = "\(error.map { "\($0)" } ?? "") \(lines.all)"
    dump(error, to: &told)
    #expect(!told.contains("Bearer 0"))
    #expect(lines.count > 0)
  }
}
