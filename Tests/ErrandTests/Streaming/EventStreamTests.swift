@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

#if os(Linux)
  import CodedSamples
  import ErrandDecoding
#endif

/// Server-sent events over real sockets, with a manual clock.
struct EventStreamTests {
  private struct Feed: APIRequest {
    typealias Response = Nothing
    var path: Path = "/feed"
    var method = HTTPMethod.get
    var body: RequestBody?
  }

  private static let type: LoopbackHeaders = ["Content-Type": "text/event-stream; charset=utf-8"]

  private static func events(_ text: String) -> LoopbackAnswer { .status(200, headers: type, body: text) }

  private let clock = ManualClock()

  private func client(_ server: LoopbackServer, _ change: (inout ClientConfiguration) -> Void = { _ in }) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.timers = clock
    change(&configuration)
    return APIClient(configuration)
  }

  private func all(_ stream: EventStream) async throws -> [ServerSentEvent] {
    var events: [ServerSentEvent] = []
    for try await event in stream { events.append(event) }
    return events
  }

  @Test func `stream reconnects after interruptions`() async throws {
    let server = try LoopbackServer()
    server.enqueue(
      Self.events("id: 1\ndata: a\n\nid: 2\ndata: b\n\ndata: lost"),
      Self.events("data: c\n\nid: 4\ndata: never whole\n").cut(after: 20),
      .status(503, headers: ["Retry-After": "2"]), Self.events("id: 9\ndata: d\n\n"), .status(204))
    let events = try await clock.turning { try await all(client(server).events(of: Feed())) }
    #expect(events.map(\.data) == ["a", "b", "c", "d"] && events.map(\.id) == ["1", "2", "2", "9"])
    #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "2", "2", "2", "9"])
    #expect(server.requests.allSatisfy { $0.headers["Accept"] == "text/event-stream" })
  }

  @Test func `each response loses one byte order mark`() async throws {
    let server = try LoopbackServer()
    server.enqueue(
      Self.events("\u{FEFF}data: a\n\n"), Self.events("\u{FEFF}\u{FEFF}data: lost\ndata: b\n\n"), .status(204))
    let events = try await clock.turning { try await all(client(server).events(of: Feed())) }
    #expect(events.map(\.data) == ["a", "b"])
  }

  @Test(arguments: [0, 1, 2]) func `call can be stopped during reconnection delay`(way: Int) async throws {
    let server = try LoopbackServer { _ in Self.events("data: a\n\n") }
    let accounts = CredentialStore()
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    let client = client(server)
    client.configure { $0.credentials = accounts }
    let stream = client.events(of: Feed(), options: CallOptions(tag: "page"))
    let listening = Task { try await all(stream) }
    #expect(await eventually { clock.pending > 0 })
    switch way {
    case 0: #expect(client.cancel(tag: "page") == 1)
    case 1: #expect(client.cancelAll() == 1)
    default: try await accounts.logout()
    }
    let error = await #expect(throws: APIError.self) { _ = try await listening.value }
    #expect(error?.isCancelled == true && (error?.code == .loggedOut) == (way == 2))
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [["bob", "ada"], []]) func `account switch ends the stream`(_ names: [String]) async throws {
    let server = try LoopbackServer { _ in Self.events("data: a\n\n") }
    let accounts = CredentialStore()
    for name in names { try await accounts.login(name, with: AccountCredential(.bearer(name))) }
    let client = client(server)
    client.configure { $0.credentials = accounts }
    let listening = Task { try await all(client.events(of: Feed())) }
    #expect(await eventually { clock.pending > 0 })
    try await accounts.login("bob", with: AccountCredential(.bearer("bob")))
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: APIError.self) { _ = try await listening.value }
    #expect(error?.code == .loggedOut && server.requests.count == 1)
  }

  /// Makes another account current while the request of a connection passes the interceptors.
  private struct Switching: Interceptor {
    let accounts: CredentialStore
    let number: Recorded<Int>

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      number.append(1)
      if number.count == 2 { try await accounts.use("bob") }
      return try await next(request)
    }
  }

  @Test func `switch during a reconnection ends the stream`() async throws {
    let server = try LoopbackServer { _ in Self.events("data: a\n\n") }
    let accounts = CredentialStore()
    for name in ["bob", "ada"] { try await accounts.login(name, with: AccountCredential(.bearer(name))) }
    let client = client(server)
    client.configure {
      $0.credentials = accounts
      $0.interceptors.calls = [Switching(accounts: accounts, number: Recorded())]
    }
    let error = await #expect(throws: APIError.self) {
      _ = try await clock.turning { try await all(client.events(of: Feed(), reconnecting: ReconnectRule(attempts: 2))) }
    }
    #expect(error?.code == .loggedOut && server.requests.count == 1)
  }

  /// A token server that cannot be reached for the first refresh.
  private final class Tokens: RefreshingProvider {
    let refreshes = Recorded<String>()
    let account: String? = "ada"

    func credential(for account: String?) async throws -> Credential? { .bearer("old") }

    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      refreshes.append(account ?? "")
      if refreshes.count == 1 {
        throw APIError.mapping(TransportFailure(.offline, "There is no network."), as: .transport)
      }
      return .bearer("new")
    }
  }

  @Test func `stream survives an unreachable token server`() async throws {
    let server = try LoopbackServer()
    server.enqueue(
      Self.events("data: a\n\n"), .status(401), .status(401), Self.events("data: b\n\n"), .status(204))
    let tokens = Tokens()
    let client = client(server) { $0.credentials = tokens }
    let events = try await clock.turning { try await all(client.events(of: Feed())) }
    #expect(events.map(\.data) == ["a", "b"] && tokens.refreshes.count == 2)
    let credentials = ["old", "old", "old", "new", "old"].map { "Bearer \($0)" }
    #expect(server.requests.compactMap { $0.headers["Authorization"] } == credentials)
  }

  #if os(Linux)
    private static func compressed(_ bytes: some Sequence<UInt8>) -> LoopbackAnswer {
      .data(bytes, contentType: "text/event-stream", fields: ["Content-Encoding": "gzip"])
    }

    @Test func `cut compressed stream reconnects`() async throws {
      let whole = CodedSamples.encode(Array("id: 1\ndata: a\n\n".utf8), .gzip)
      let server = try LoopbackServer()
      // Without the trailer of eight bytes. The framing of the response is right.
      server.enqueue(Self.compressed(whole.dropLast(8)), Self.events("data: b\n\n"), .status(204))
      let events = try await clock.turning { try await all(client(server).events(of: Feed())) }
      #expect(events.map(\.data) == ["a", "b"])
      #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "1"])
    }

    @Test func `undecodable stream is not reconnected`() async throws {
      let server = try LoopbackServer { _ in Self.compressed("data: a\n\n".utf8) }
      let error = await #expect(throws: APIError.self) { try await all(client(server).events(of: Feed())) }
      #expect(error?.transportKind == .undecodableContent && server.requests.count == 1)
    }
  #endif

  @Test func `incomplete line is not an event`() async throws {
    let server = try LoopbackServer { _ in Self.events("upstream down") }
    let stream = client(server).events(of: Feed(), reconnecting: ReconnectRule(attempts: 3))
    #expect(try await clock.turning { try await all(stream) }.isEmpty)
    #expect(server.requests.count == 4, "the number of attempts is limited")
  }

  @Test func `Last-Event-ID is trimmed`() async throws {
    let server = try LoopbackServer()
    server.enqueue(Self.events("id: 7 \ndata: a\n\n"), Self.events("id:   \ndata: b\n\n"), .status(204))
    let events = try await clock.turning { try await all(client(server).events(of: Feed())) }
    #expect(events.map(\.id) == ["7 ", "  "])
    #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "7", nil])
  }

  @Test func `empty ID clears Last-Event-ID`() async throws {
    let server = try LoopbackServer()
    server.enqueue(Self.events("data: a\n\n"), Self.events("id: 7\nid:\ndata: b\n\n"), Self.events(""), .status(204))
    let options = CallOptions(headers: ["Last-Event-ID": "3"])
    _ = try await clock.turning { try await all(client(server).events(of: Feed(), options: options)) }
    #expect(server.requests.map { $0.headers["Last-Event-ID"] } == ["3", "3", nil, nil])
  }

  @Test func `regular end is not a cancel`() async throws {
    struct Teller: Accessory {
      let ends: Recorded<String>
      func didStop(_ call: CallInfo, _ outcome: Outcome<Void>) {
        ends.append(outcome.error.map { "\($0.code)" } ?? "right")
      }
    }
    let server = try LoopbackServer { _ in .status(204) }
    let ends = Recorded<String>()
    let client = client(server)
    client.configure { $0.accessories = [Teller(ends: ends)] }
    for _ in 0..<20 { _ = try await all(client.events(of: Feed())) }
    #expect(await eventually { ends.count == 20 })
    #expect(Set(ends.all) == ["right"])
  }

  @Test func `quiet connections are not failures`() async throws {
    let server = try LoopbackServer { request in
      request.number > 20 ? .status(204) : Self.events(": alive\n\n")
    }
    let events = try await clock.turning { try await all(client(server).events(of: Feed())) }
    #expect(
      events.isEmpty && server.requests.count == 21, "if they counted as failures, the stream would end at the eleventh"
    )
  }

  @Test func `event arrives before the response ends`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in Self.events("data: now\n\ndata: later\n\n").stalled(after: 11, until: gate) }
    var events = client(server).events(of: Feed(), reconnecting: .never).makeAsyncIterator()
    #expect(try await events.next()?.data == "now")
    gate.open()
    #expect(try await events.next()?.data == "later")
    let end = try await events.next()
    #expect(end == nil && server.requests.count == 1)
  }

  @Test func `server sets the reconnection delay`() async throws {
    let server = try LoopbackServer()
    server.enqueue(Self.events("retry: 90000\ndata: a\n\n"), .status(204))
    let client = client(server)
    async let events = all(client.events(of: Feed()))
    #expect(await clock.waitForTimers(1))
    clock.advance(by: .milliseconds(89_999))
    #expect(server.requests.count == 1 && clock.pending == 1)
    clock.advance(by: .seconds(46))
    let heard = try await events
    #expect(heard.map(\.data) == ["a"] && server.requests.count == 2)
  }

  @Test func `silence counts as an interruption`() async throws {
    let heard = Recorded<String>()
    // On a busy machine, a connection may be silent for the idle time-out before the event arrives, too.
    let server = try LoopbackServer { _ in
      heard.all.isEmpty ? Self.events("data: a\n\n: alive\n\n").stalled(after: 15) : .status(204)
    }
    let options = CallOptions(timeouts: Timeouts(idle: .seconds(4)))
    try await clock.turning {
      for try await event in client(server).events(of: Feed(), options: options) { heard.append(event.data) }
    }
    #expect(heard.all == ["a"] && server.requests.count >= 2)
  }

  @Test func `repeated failures end the stream`() async throws {
    let server = try LoopbackServer { _ in .status(502) }
    let rule = ReconnectRule(attempts: 3)
    let error = await clock.turning {
      await #expect(throws: APIError.self) { try await all(client(server).events(of: Feed(), reconnecting: rule)) }
    }
    #expect(error?.status == 502 && server.requests.count == 4)
  }

  @Test(arguments: [
    LoopbackAnswer.status(404), .status(401), .json("{}"), .ok("data: a\n\n"),
  ])
  func `rejected responses end the stream`(answer: LoopbackAnswer) async throws {
    let server = try LoopbackServer { _ in answer }
    let client = client(server)
    let error = await #expect(throws: APIError.self) { try await all(client.events(of: Feed())) }
    #expect(error?.stage == .validate && server.requests.count == 1)
    #expect(await eventually { client.running.isEmpty && clock.pending == 0 })
  }

  @Test func `POST is not reconnected`() async throws {
    let server = try LoopbackServer { _ in Self.events("data: a\n\n") }
    let chat = Feed(method: .post, body: .text("hello"))
    #expect(try await all(client(server).events(of: chat)).map(\.data) == ["a"])
    let cut = try LoopbackServer { _ in Self.events("data: a\n\ndata: b\n\n").cut(after: 12) }
    let error = await #expect(throws: APIError.self) { try await all(client(cut).events(of: chat)) }
    #expect(error?.transportKind == .truncated && server.requests.count == 1 && cut.requests.count == 1)
  }

  @Test func `cancel ends the reconnection delay`() async throws {
    let server = try LoopbackServer { _ in Self.events("data: a\n\n") }
    let client = client(server)
    let listening = Task { try await all(client.events(of: Feed())) }
    #expect(await clock.waitForTimers(1))
    listening.cancel()
    let error = await #expect(throws: APIError.self) { try await listening.value }
    #expect(error?.isCancelled == true && server.requests.count == 1)
    #expect(await eventually { clock.pending == 0 })
  }

  @Test func `cancel after the last event ends the stream`() async throws {
    let server = try LoopbackServer { _ in Self.events("data: a\n\n") }
    let client = client(server)
    var events = client.events(of: Feed(), options: CallOptions(tag: "page")).makeAsyncIterator()
    #expect(try await events.next()?.data == "a")
    // The connection ends before the loop asks for the next event.
    #expect(await eventually { client.registry.running.allSatisfy(\.isPause) })
    try #require(client.cancel(tag: "page") == 1)
    let error = await #expect(throws: APIError.self) { _ = try await events.next() }
    #expect(error?.isCancelled == true && server.requests.count == 1)
    #expect(client.registry.running.isEmpty)
  }

  @Test func `leaving the loop ends the call`() async throws {
    let server = try LoopbackServer { _ in Self.events("data: a\n\ndata: b\n\n").stalled(after: 12) }
    let client = client(server)
    for try await event in client.events(of: Feed()) {
      #expect(event.data == "a")
      break
    }
    #expect(await eventually { client.running.isEmpty && client.admission == (0, 0) })
    #expect(server.requests.count == 1)
  }

  // MARK: - Values

  private struct Price: Decodable, Sendable, Equatable { let inCents: Int }

  @Test func `values follow the client's rules`() async throws {
    let server = try LoopbackServer()
    server.enqueue(
      Self.events("id: 1\ndata: {\"in_cents\": 995}\n\n: alive\n\n"),
      Self.events("event: price\ndata: {\"in_cents\":\ndata: 990}\n\n"), .status(204))
    let client = client(server) { $0.formats.jsonDecoding = JSONDecoding(keys: .convertFromSnakeCase) }
    let prices = try await clock.turning {
      var prices: [Price] = []
      for try await price in client.events(of: Feed()).values(of: Price.self) { prices.append(price) }
      return prices
    }
    #expect(prices == [995, 990].map(Price.init))
    #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "1"])
  }

  @Test func `rules of the call override the client's`() async throws {
    let server = try LoopbackServer { _ in Self.events("data: {\"in_cents\": 995}\n\n") }
    let rules = JSONDecoding(keys: .convertFromSnakeCase)
    let events = client(server).events(of: Feed(), reconnecting: .never)
    var prices = events.values(of: Price.self, by: rules).makeAsyncIterator()
    #expect(try await prices.next() == Price(inCents: 995))
    let end = try await prices.next()
    #expect(end == nil && server.requests.count == 1)
  }

  @Test func `undecodable event ends the values`() async throws {
    let wrong = "data: {\"inCents\": 1}\n\ndata: {\"inCents\": \"x\"}\n\n"
    let server = try LoopbackServer { _ in Self.events(wrong + "data: late\n\n").stalled(after: wrong.utf8.count) }
    let client = client(server)
    var prices = client.events(of: Feed()).values(of: Price.self).makeAsyncIterator()
    #expect(try await prices.next() == Price(inCents: 1))
    let error = await #expect(throws: APIError.self) { _ = try await prices.next(isolation: #isolation) }
    #expect(error?.stage == .decode && error?.message.hasPrefix("Event 2 of the stream") == true, "\(error as Any)")
    #expect(error?.message.contains("$.inCents") == true)
    let end = try await prices.next(isolation: #isolation)
    #expect(end == nil && server.requests.count == 1)
    #expect(await eventually { client.running.isEmpty && clock.pending == 0 })
  }

  @Test func `event may be as long as the limit`() async throws {
    let server = try LoopbackServer { _ in Self.events("data: 0123456789\n\n") }
    let client = client(server)
    let events = try await all(client.events(of: Feed(), reconnecting: .never, limit: 10))
    #expect(events.map(\.data) == ["0123456789"])
    let error = await #expect(throws: APIError.self) {
      try await all(client.events(of: Feed(), reconnecting: .never, limit: 9))
    }
    #expect(error?.code == .tooLarge && server.requests.count == 2)
  }

  @Test func `too long event ends the stream`() async throws {
    let server = try LoopbackServer { _ in Self.events(String(repeating: "data: 0123456789\n", count: 50)) }
    let error = await #expect(throws: APIError.self) { try await all(client(server).events(of: Feed(), limit: 100)) }
    #expect(error?.code.rawValue == "tooLarge" && server.requests.count == 1)
  }
}

extension ManualClock {
  /// Advances the clock while `body` runs.
  func turning<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
    let turning = Task { @concurrent in
      while !Task.isCancelled {
        if pending > 0 { advance(by: .milliseconds(500)) }
        await Task.yield()
      }
    }
    defer { turning.cancel() }
    return try await body()
  }
}
