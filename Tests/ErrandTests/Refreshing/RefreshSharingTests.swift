@testable import ErrandCore
import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Refreshing while calls share exchanges, which GET requests do by default.
struct RefreshSharingTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/session"
    var joining = JoinRule.inherited
    var overlap: Overlap { Overlap(joining: joining) }
  }

  /// Tokens are numbers. A refresh runs the work that the test sets, and then returns the next token.
  private final class Tokens: RefreshingProvider {
    let account: String?
    let refreshed = Recorded<String>()
    let gate = Latch()
    private let work = Locked<(@Sendable () async throws -> Void)?>(nil)
    private let present = Locked(0)
    private let prefix: String

    init(_ prefix: String = "", account: String? = "ada", isHeld: Bool = false) {
      self.prefix = prefix
      self.account = account
      if !isHeld { gate.open() }
    }

    func credential(for account: String?) async throws -> Credential? {
      .bearer(prefix + "\(present.withLock { $0 })")
    }

    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      refreshed.append(account ?? "nobody")
      try await gate.wait()
      if let work = work.withLock({ $0 }) { try await work() }
      return .bearer(prefix + "\(present.withLock { $0 += 1; return $0 })")
    }

    /// Sets the work that a refresh runs first.
    func doing(_ work: (@Sendable () async throws -> Void)?) { self.work.withLock { $0 = work } }
  }

  private func client(
    _ tokens: any CredentialProvider, _ answer: @escaping @Sendable (HTTPRequest) async throws -> ScriptedAnswer
  ) -> (APIClient, ScriptedTransport) {
    let transport = ScriptedTransport(answer)
    var configuration = ClientConfiguration(baseURL: "http://x.example")
    configuration.transport = .own(transport)
    configuration.credentials = tokens
    return (APIClient(configuration), transport)
  }

  @Test func `refreshed call joins no older exchange`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { request in
      let token = request.headers["Authorization"] ?? "nobody"
      if request.path == "/first" { return token == "Bearer 0" ? .status(401) : .redirect(to: "/session") }
      return .ok(token).held(at: gate)
    }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.credentials = Tokens()
    let client = APIClient(configuration)
    async let older = client.send(Get())
    try await gate.reached()
    async let refreshed = client.send(Get(path: "/first"))
    try await gate.reached(times: 2)
    gate.open()
    #expect(try await older == "Bearer 0")
    #expect(try await refreshed == "Bearer 1")
  }

  @Test func `refresh does not join its own call`() async {
    let tokens = Tokens()
    let (client, transport) = client(tokens) { request in
      request.fields[.authorization] == "Bearer 1" ? .text("in") : .status(401)
    }
    tokens.doing { _ = await client.outcome(of: Get()) }
    let outcome = await client.outcome(of: Get(), options: .deadline(.seconds(60)))
    #expect(outcome.value == "in", "a joined refresh would wait for itself")
    #expect(transport.requests.count == 3)
    tokens.doing(nil)
  }

  @Test func `clients of one provider refresh once`() async {
    let tokens = Tokens(isHeld: true)
    let clients = (0..<2).map { _ in
      client(tokens) { request in
        request.fields[.authorization] == "Bearer 1" ? .text("in") : .status(401)
      }.0
    }
    async let first = clients[0].outcome(of: Get())
    async let second = clients[1].outcome(of: Get())
    #expect(await eventually { RefreshControl.shared(by: tokens)?.waiting == 2 || tokens.refreshed.count == 2 })
    tokens.gate.open()
    #expect(await first.value == "in")
    #expect(await second.value == "in")
    #expect(tokens.refreshed.count == 1)
  }

  @Test(arguments: [true, false]) func `offline refresh does not log out`(isTunnel: Bool) async {
    let tokens = Tokens()
    let (client, transport) = client(tokens) { _ in .status(401) }
    tokens.doing {
      if isTunnel { throw APIError.mapping(TransportFailure(.offline, "There is no network."), as: .transport) }
      throw APIError(.validate, .status, "The server answered 400.")
    }
    let error = await client.outcome(of: Get()).error
    #expect(error?.stage == .authorize && error?.code == (isTunnel ? .refreshUnavailable : .refreshFailed))
    #expect(error?.message.contains("log in again") == !isTunnel)
    #expect(error?.status == 401, "the received response is delivered")
    #expect(transport.requests.count == 1)
    tokens.doing(nil)
  }

  @Test func `session end cancels a shared refresh`() async {
    let tokens = Tokens(isHeld: true)
    let client = client(tokens) { _ in .status(401) }.0
    async let outcome = client.outcome(of: Get())
    #expect(await eventually { RefreshControl.shared(by: tokens)?.waiting == 1 })
    await client.endSession(of: "ada")
    #expect(await outcome.error?.code == .loggedOut)
    #expect(RefreshControl.shared(by: tokens)?.waiting == 0)
  }

  @Test func `call during a refresh is refreshed too`() async {
    let (tokens, asked) = (Tokens(), Latch())
    let (client, _) = client(tokens) { request in
      if request.fields[.authorization] == "Bearer 1" { return .text("in") }
      if request.fields["X-Mine"] == nil, request.url.path == "/other" { try await asked.wait() }
      return .status(401)
    }
    tokens.doing { _ = await client.outcome(of: Get(path: "/other")) }
    async let first = client.outcome(of: Get())
    await asked.reached(1)
    async let second = client.outcome(of: Get(path: "/other"))
    await asked.reached(2)
    asked.open()
    #expect(await first.value == "in")
    #expect(await second.value == "in")
    #expect(tokens.refreshed.count == 1)
    tokens.doing(nil)
  }

  @Test(arguments: [JoinRule.never, .safe]) func `call is refreshed at most once`(joining: JoinRule) async {
    let tokens = Tokens()
    let (client, transport) = client(tokens) { request in
      if request.url.path == "/b" { return .status(401) }
      return request.fields[.authorization] == "Bearer 0"
        ? .status(401) : .status(302, fields: ["Location": "/b"])
    }
    let outcome = await client.outcome(of: Get(path: "/a", joining: joining))
    #expect(outcome.error?.status == 401)
    #expect(tokens.refreshed.count == 1)
    #expect(transport.requests.map(\.url.path) == ["/a", "/a", "/b"])
  }

  /// Sends each request twice at the same time, and returns the response that failed, if any.
  private struct Twice: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      async let other = next(request)
      let first = try await next(request)
      let second = try await other
      return first.status == 200 ? second : first
    }
  }

  @Test func `concurrent requests of one call share a refresh`() async {
    let tokens = Tokens(isHeld: true)
    let (client, transport) = client(tokens) { request in
      request.fields[.authorization] == "Bearer 1" ? .text("in") : .status(401)
    }
    client.configure { $0.interceptors.calls = [Twice()] }
    async let outcome = client.outcome(of: Get(joining: .never))
    #expect(await eventually { transport.requests.count == 2 })
    tokens.gate.open()
    #expect(await outcome.value == "in")
    #expect(tokens.refreshed.count == 1)
  }

  @Test func `replaced provider's token is not sent`() async {
    let (old, new) = (Tokens("old", isHeld: true), Tokens("new"))
    let (client, transport) = client(old) { request in
      let field = request.fields[.authorization] ?? ""
      return field.hasSuffix("1") ? .text(field) : .status(401)
    }
    async let first = client.outcome(of: Get())
    #expect(await eventually { old.refreshed.count == 1 })
    client.configure {
      $0.servers.current.baseURL = "http://y.example"
      $0.credentials = new
    }
    #expect(await client.outcome(of: Get()).value == "Bearer new1")
    old.gate.open()
    #expect(await first.value == "Bearer old1")
    #expect(new.refreshed.count == 1)
    let strays = transport.requests.filter {
      $0.url.origin.host == "y.example" && $0.fields[.authorization]?.contains("old") == true
    }
    #expect(strays.isEmpty)
  }
}
