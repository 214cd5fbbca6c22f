@testable import ErrandCore
import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Calls that app code sends while another call waits for that code. No call waits for itself, and calls do not nest
/// without end.
struct NestedCallTests {
  /// How the nested code sends its call.
  struct Way: Sendable, CustomTestStringConvertible {
    var method = HTTPMethod.get
    /// Whether it sends the same request as the outer call.
    var isSame = false
    var isCached = false
    var isBatch = false
    /// Whether it starts a call and waits for its end.
    var isStarted = false
    var isTwice = false

    var testDescription: String {
      "\(method)" + (isSame ? " same" : "") + (isCached ? " cached" : "") + (isBatch ? " batch" : "")
        + (isStarted ? " started" : "") + (isTwice ? " twice" : "")
    }

    static let all: [Way] = [HTTPMethod.get, .post].flatMap { method in
      [
        Way(method: method), Way(method: method, isSame: true), Way(method: method, isSame: true, isCached: true),
        Way(method: method, isSame: true, isBatch: true), Way(method: method, isSame: true, isStarted: true),
        Way(method: method, isSame: true, isTwice: true), Way(method: method, isCached: true, isBatch: true),
      ]
    }

    func request(_ path: String) -> Get {
      Get(
        path: RequestPath(stringLiteral: path), method: method,
        cache: isCached ? .lifetime(.seconds(60)) : .none)
    }

    func send(by client: APIClient) async throws {
      let request = request(isSame ? "/thing" : "/token")
      for _ in 0..<(isTwice ? 2 : 1) {
        if isBatch {
          for outcome in await client.outcomes(of: [request, request], width: 1) { _ = try outcome.get() }
        } else if isStarted {
          let ends = AsyncStream<Void>.makeStream()
          client.start(outcomeOf: request) { _ in ends.continuation.finish() }
          for await _ in ends.stream {}
        } else {
          _ = try await client.send(request)
        }
      }
    }
  }

  struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var method = HTTPMethod.get
    var cache = CachePolicy.none
    var timeouts: Timeouts { Timeouts(total: .seconds(20)) }
    var validation: ResponseValidation { ResponseValidation(status: .any) }
  }

  /// A credential provider that sends a call whenever it is asked.
  private final class Sender: RefreshingProvider {
    private let work = Locked<(@Sendable () async throws -> Void)?>(nil)
    private let onRefresh: Bool
    let asked = Recorded<Int>()
    var account: String? { "ada" }

    init(onRefresh: Bool = false) { self.onRefresh = onRefresh }

    func doing(_ work: (@Sendable () async throws -> Void)?) { self.work.withLock { $0 = work } }

    private func act() async throws {
      asked.append(1)
      if asked.count > 200 { throw Endless() }
      if let work = work.withLock({ $0 }) { try await work() }
    }

    func credential(for account: String?) async throws -> Credential? {
      if !onRefresh { try await act() }
      return .bearer(onRefresh && asked.count == 0 ? "old" : "new")
    }
    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      if onRefresh { try await act() }
      return .bearer("new")
    }
  }

  /// The same provider as a value, which has no identity.
  private struct Value: CredentialProvider {
    let sender: Sender
    var account: String? { sender.account }
    func credential(for account: String?) async throws -> Credential? { try await sender.credential(for: account) }
  }

  private struct Endless: Error {}

  func server() throws -> LoopbackServer {
    try LoopbackServer { request in
      request.headers["Authorization"] == "Bearer old" ? .status(401) : .ok(request.headers["Authorization"] ?? "none")
    }
  }

  func client(
    _ server: LoopbackServer, _ provider: (any CredentialProvider)?,
    _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.credentials = provider
    configuration.admission = AdmissionLimits(perHost: 1, total: 1)
    change(&configuration)
    return APIClient(configuration)
  }

  @Test(arguments: Way.all, [true, false])
  func `provider's own call skips the provider`(_ way: Way, isObject: Bool) async throws {
    let server = try server()
    let sender = Sender()
    let client = client(server, isObject ? sender : Value(sender: sender))
    sender.doing { [client] in try await way.send(by: client) }
    let outcome = await client.outcome(of: way.request("/thing"))
    #expect(outcome.value == "Bearer new", "\(outcome.error?.message ?? "")")
    #expect(sender.asked.count == 1)
    let shown = server.requests.map { $0.headers["Authorization"] }
    #expect(shown.last == "Bearer new" && shown.dropLast().allSatisfy { $0 == nil })
    sender.doing(nil)
  }

  @Test(arguments: Way.all) func `refresh call does not wait for itself`(_ way: Way) async throws {
    let server = try server()
    let sender = Sender(onRefresh: true)
    let client = client(server, sender)
    sender.doing { [client] in try await way.send(by: client) }
    let outcome = await client.outcome(of: way.request("/thing"))
    #expect(outcome.value == "Bearer new", "\(outcome.error?.message ?? "")")
    #expect(sender.asked.count == 1)
    #expect(server.requests.dropFirst().dropLast().allSatisfy { $0.headers["Authorization"] == nil })
    sender.doing(nil)
  }

  @Test(arguments: Way.all) func `mutually dependent providers end`(_ way: Way) async throws {
    let server = try server()
    let (one, two) = (Sender(), Sender())
    let clients = [client(server, one), client(server, two)]
    one.doing { [client = clients[1]] in try await way.send(by: client) }
    two.doing { [client = clients[0]] in try await way.send(by: client) }
    async let first = clients[0].outcome(of: way.request("/thing"))
    async let second = clients[1].outcome(of: way.request("/thing"))
    for outcome in await [first, second] {
      #expect(outcome.value == "Bearer new", "\(outcome.error?.message ?? "")")
    }
    for sender in [one, two] { sender.doing(nil) }
  }

  @Test func `provider's response is not the account's`() async throws {
    let server = try server()
    let sender = Sender()
    let client = client(server, sender)
    let way = Way(isSame: true, isCached: true)
    sender.doing { [client] in try await way.send(by: client) }
    #expect(try await client.send(way.request("/thing")) == "Bearer new")
    #expect(try await client.send(way.request("/thing")) == "Bearer new")
    #expect(server.requests.count == 2, "the second call is served from the stored response")
    sender.doing(nil)
  }

  @Test func `provider's later call has a credential`() async throws {
    let server = try server()
    let sender = Sender()
    let client = client(server, sender)
    let (gate, later) = (Latch(), Recorded<String>())
    sender.doing { [client] in
      sender.doing(nil)
      Task {
        try await gate.wait()
        later.append(try await client.send(Get(path: "/later")))
      }
    }
    #expect(try await client.send(Get()) == "Bearer new")
    gate.open()
    #expect(await eventually { later.count == 1 })
    #expect(later.all == ["Bearer new"])
  }

  // MARK: - Interceptors, hooks, accessories

  /// Sends a call for each call that it sees.
  private final class Greedy: Interceptor {
    let client = Locked<APIClient?>(nil)
    let way: Way
    init(_ way: Way) { self.way = way }

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      if let client = client.withLock({ $0 }) { try await way.send(by: client) }
      return try await next(request)
    }
  }

  /// The places where app code runs.
  enum Place: CaseIterable { case interceptor, exchangeInterceptor }

  @Test(arguments: Place.allCases, Way.all.filter { !$0.isTwice && !$0.isBatch && !$0.isStarted })
  func `endlessly nesting interceptor is named`(_ place: Place, _ way: Way) async throws {
    let server = try server()
    let greedy = Greedy(way)
    let client = client(server, nil) {
      if place == .interceptor { $0.interceptors.calls = [greedy] } else { $0.interceptors.exchanges = [greedy] }
    }
    greedy.client.withLock { $0 = client }
    let error = await client.outcome(of: way.request("/thing")).error
    #expect(error?.code == .interceptor && error?.message.contains("Greedy") == true, "\(error?.message ?? "none")")
    #expect(server.requests.isEmpty)
    greedy.client.withLock { $0 = nil }
  }

  @Test(arguments: Place.allCases) func `interceptor may send other calls`(_ place: Place) async throws {
    let server = try server()
    let polite = Polite()
    let client = client(server, nil) {
      if place == .interceptor { $0.interceptors.calls = [polite] } else { $0.interceptors.exchanges = [polite] }
    }
    polite.client.withLock { $0 = client }
    #expect(try await client.send(Get()) == "none")
    #expect(server.requests.map(\.path) == ["/token", "/thing"])
    polite.client.withLock { $0 = nil }
  }

  /// Sends one call for each call except its own.
  private final class Polite: Interceptor {
    let client = Locked<APIClient?>(nil)

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      if request.url.path != "/token", let client = client.withLock({ $0 }) {
        _ = try await client.send(Get(path: "/token"))
      }
      return try await next(request)
    }
  }

  private final class Starter: Accessory {
    let client = Locked<APIClient?>(nil)
    let started = Recorded<UInt64>()

    func willStart(_ call: CallInfo) {
      started.append(call.id)
      if let client = client.withLock({ $0 }) { client.start(Get()) { _ in } }
    }
  }

  @Test func `endlessly starting accessory is stopped`() async throws {
    let server = try server()
    let starter = Starter()
    let client = client(server, nil) { $0.accessories = [starter] }
    starter.client.withLock { $0 = client }
    #expect(try await client.send(Get()) == "none")
    #expect(await eventually { client.running.isEmpty })
    #expect(starter.started.count <= UserCodeScope.limit + 1 && server.requests.count <= UserCodeScope.limit + 1)
    starter.client.withLock { $0 = nil }
  }

  @Test(arguments: [true, false]) func `endlessly starting additions are stopped`(isFilter: Bool) async throws {
    let server = try server()
    let (started, failed) = (Recorded<Int>(), Recorded<APIError>())
    let starter = Locked<APIClient?>(nil)
    @Sendable func start() {
      started.append(1)
      guard started.count < 100, let client = starter.withLock({ $0 }) else { return }
      client.start(outcomeOf: Get(), on: .inPlace) { outcome in
        if let error = outcome.error { failed.append(error) }
      }
    }
    let client = client(server, nil) { configuration in
      if isFilter { configuration.additions.filters = [URLFilter("start") { _, _ in start() }] }
      if !isFilter {
        configuration.additions.arguments = {
          start()
          return Arguments()
        }
      }
    }
    starter.withLock { $0 = client }
    #expect(try await client.send(Get()) == "none")
    #expect(await eventually { client.running.isEmpty })
    #expect(started.count == UserCodeScope.limit + 1)
    #expect(failed.count == 1 && failed.all.first?.message.contains("RequestAdditions") == true)
    starter.withLock { $0 = nil }
  }

  @Test func `endlessly sending hook is stopped`() async throws {
    let server = try server()
    let client = client(server, nil)
    let (sent, failed) = (Recorded<Int>(), Recorded<APIError>())
    let hook = Locked<(@Sendable (Outcome<Void>) async -> Void)?>(nil)
    @Sendable func options() -> CallOptions {
      var options = CallOptions()
      options.beforeCompletion = { ending in
        sent.append(1)
        if sent.count < 200 { await hook.withLock { $0 }?(ending) }
      }
      return options
    }
    hook.withLock {
      $0 = { [client] _ in
        if let error = await client.outcome(of: Get(), options: options()).error { failed.append(error) }
      }
    }
    #expect(await client.outcome(of: Get(), options: options()).value == "none")
    #expect(sent.count < 20 && failed.all.first?.message.contains("Get") == true)
    hook.withLock { $0 = nil }
  }
}
