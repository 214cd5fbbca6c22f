// ErrandTesting in the tests of an app.
import Errand
import ErrandCache
import ErrandHTTP
import ErrandTesting
import ErrandTestingTraits
import Foundation
import Testing

struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  struct Response: Decodable, Sendable { let nick: String }
}

@MainActor final class UserScreen {
  private let client: APIClient
  private(set) var title = ""

  init(client: APIClient) { self.client = client }

  func load(_ id: Int) async {
    do {
      title = try await client.send(GetUser(id: id)).nick
    } catch {
      title = error.status == 503 ? "The server is busy" : "\(error)"
    }
  }
}

// snippet.screen
@Test func `the screen shows the nick`() async throws {
  let transport = ScriptedTransport(.json(#"{"nick":"Ada"}"#), .status(503))
  let client = APIClient(baseURL: "https://api.example.com")
  client.configure { $0.transport = .own(transport) }
  let screen = await UserScreen(client: client)
  await screen.load(7)
  #expect(await screen.title == "Ada")
  await screen.load(7)
  #expect(await screen.title == "The server is busy")
}

// snippet.scripted
@Test func `a user is read, then the server fails`() async throws {
  let transport = ScriptedTransport(
    .json(#"{"nick":"Ada"}"#), .status(503), .failure(.reset))
  var configuration = ClientConfiguration(baseURL: "https://api.example.com")
  configuration.transport = .own(transport)
  let client = APIClient(configuration)

  #expect(try await client.send(GetUser(id: 7)).nick == "Ada")
  #expect(await client.outcome(of: GetUser(id: 7)).error?.status == 503)
  #expect(await client.outcome(of: GetUser(id: 7)).error?.transportKind == .reset)
  #expect(transport.requests.map(\.url.path) == ["/users/7", "/users/7", "/users/7"])
}

// snippet.named
@Test func `the app's client is told the library's name`() async throws {
  TransportRegistry.shared.register(ScriptedTransport.name) {
    ScriptedTransport { _ in .json(#"{"nick":"Ada"}"#) }
  }
  let client = APIClient(baseURL: "https://api.example.com")
  client.configure { $0.transport = .named("scripted") }
  #expect(try await client.send(GetUser(id: 7)).nick == "Ada")
}

// snippet.latch
@Test func `a call is seen while it runs`() async throws {
  let latch = Latch()
  var configuration = ClientConfiguration(baseURL: "https://api.example.com")
  configuration.transport = .own(
    ScriptedTransport { _ in
      try await latch.wait()
      return .json(#"{"nick":"Ada"}"#)
    })
  let client = APIClient(configuration)

  async let user = client.send(GetUser(id: 7))
  #expect(await latch.reached())  // the request was sent, and no response has arrived yet
  #expect(client.running.count == 1)
  latch.open()
  #expect(try await user.nick == "Ada")
}

// snippet.loopback
@Test func `broken answers are told apart`() async throws {
  let server = try LoopbackServer()
  let client = APIClient(baseURL: server.url)
  server.enqueue(
    .json(#"{"nick":"Ada"}"#),
    .json(#"{"nick":"Ada"}"#).cut(after: 4),
    .ok("hello").setting("Content-Length", to: "-2"))

  #expect(try await client.send(GetUser(id: 7)).nick == "Ada")
  #expect(await client.outcome(of: GetUser(id: 7)).error?.transportKind == .truncated)
  #expect(await client.outcome(of: GetUser(id: 7)).error?.transportKind == .malformedResponse)
  #expect(try await server.request(number: 1).headers["Accept"] == "application/json")
}

// snippet.recorded
@Test func `a tag is sent back`() async throws {
  let server = try LoopbackServer { request in
    request.headers["If-None-Match"] == "\"1\""
      ? .status(304) : .data(Data([1, 2]), contentType: "image/png", fields: ["ETag": "\"1\""])
  }
  let client = APIClient(baseURL: server.url)
  client.configure { $0.cache.policy = .http }
  for _ in 0..<2 {
    let picture = try await client.get("/pictures/7", as: Data.self, arguments: ["size": 2])
    #expect(picture == Data([1, 2]))
  }

  let sent = server.requests[1]
  #expect(sent.method == "GET" && sent.path == "/pictures/7" && sent.query == "size=2")
  #expect(sent.body.isEmpty && sent.indexOnConnection == 2)  // the connection was used again
}

// snippet.ranges
@Test func `a broken download continues`() async throws {
  let film = RangeResource(size: 1 << 20)
  let server = try RangeServer { number in
    RangeBehaviour(film) { if number == 1 { $0.fault = .cut(after: 300_000) } }
  }
  let file = URL.temporaryDirectory.appending(path: "film-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: file) }
  _ = try await APIClient(baseURL: server.url).send(FileDownload("", .to(file)))

  #expect(film.has(try Data(contentsOf: file), at: 0))
  #expect(server.requests.map(\.status) == [200, 206])
}

// snippet.gate
@Test func `a cancel ends a call in flight`() async throws {
  let gate = Gate()
  let server = try LoopbackServer { _ in .json(#"{"nick":"late"}"#).held(at: gate) }
  let client = APIClient(baseURL: server.url)

  async let late = client.outcome(of: GetUser(id: 7), options: .tag("late"))
  try await gate.reached()  // the server has received the request and has not responded yet
  client.cancel(tag: "late")
  #expect(await late.error?.stage == .cancelled)
}

// snippet.task
func nick(of id: Int, from client: APIClient) async throws -> String {
  try await client.send(GetUser(id: id)).nick
}

@Test func `a cancel ends the app's own function`() async throws {
  let latch = Latch()
  let client = APIClient(baseURL: "https://api.example.com")
  client.configure {
    $0.transport = .own(
      ScriptedTransport { _ in
        try await latch.wait()
        return .json(#"{"nick":"late"}"#)
      })
  }

  let late = Task { try await nick(of: 7, from: client) }
  #expect(await latch.reached())  // the request was sent
  late.cancel()
  let error = await #expect(throws: APIError.self) { try await late.value }
  #expect(error?.stage == .cancelled)
}

// snippet.clock
@Test func `the deadline ends a silent call`() async throws {
  let clock = ManualClock()
  let server = try LoopbackServer { _ in .stall() }
  var configuration = ClientConfiguration(baseURL: server.url)
  configuration.timers = clock
  let client = APIClient(configuration)

  async let silent = client.outcome(of: GetUser(id: 7))
  try await server.request(number: 1)
  clock.advance(by: .seconds(120))  // the default of the total time-out
  #expect(await silent.error?.stage == .deadline)
}

// snippet.retry
@Test func `a busy server is asked again when it wants to be`() async throws {
  let clock = ManualClock()
  let transport = ScriptedTransport(.status(503, fields: ["Retry-After": "30"]), .json(#"{"nick":"Ada"}"#))
  var configuration = ClientConfiguration(baseURL: "https://api.example.com")
  configuration.transport = .own(transport)
  configuration.timers = clock
  configuration.retries = .standard
  let client = APIClient(configuration)

  async let user = client.response(GetUser(id: 7))
  #expect(await clock.waitForTimers(2))  // the deadline of the call, and the wait before the second attempt
  #expect(transport.requests.count == 1)
  clock.advance(by: .seconds(31))  // the server's Retry-After and more than the jitter
  #expect(try await user.metrics.attempts == 2)
}

// snippet.cache
struct GetProfile: APIRequest {
  var path: Path { "/profile" }
  var cache: CachePolicy { .lifetime(.seconds(180)) }
  typealias Response = String
}

@Test func `a profile is kept for three minutes`() async throws {
  let clock = ManualClock()
  let transport = ScriptedTransport(.text("old"), .text("new"))
  var configuration = ClientConfiguration(baseURL: "https://api.example.com")
  configuration.transport = .own(transport)
  configuration.timers = clock
  let client = APIClient(configuration)

  #expect(try await client.send(GetProfile()) == "old")
  clock.advance(by: .seconds(170))
  #expect(try await client.response(GetProfile()).origin == .cacheFresh)
  clock.advance(by: .seconds(11))
  #expect(try await client.send(GetProfile()) == "new")
  #expect(transport.requests.count == 2)
}

// snippet.wallclock
struct GetOffer: APIRequest {
  var path: Path { "/offer" }
  var cache: CachePolicy { .http }
  typealias Response = String
}

@Test func `an offer ends at its date`() async throws {
  let clock = ManualClock()
  let start = WallTime(Date(timeIntervalSince1970: 784_111_777))  // Sun, 06 Nov 1994 08:49:37 GMT
  let cache = ResponseCache(store: MemoryStore()) {
    start.advanced(byMilliseconds: clock.now.nanoseconds / 1_000_000)
  }
  var offer = ScriptedAnswer.text("shoes")
  offer.head.fields = [
    .date: "Sun, 06 Nov 1994 08:49:37 GMT", "Expires": "Sun, 06 Nov 1994 09:49:37 GMT",
  ]
  var configuration = ClientConfiguration(baseURL: "https://api.example.com")
  configuration.transport = .own(ScriptedTransport(offer, .text("hats")))
  configuration.cache.store = .own(cache)
  configuration.timers = clock
  let client = APIClient(configuration)

  #expect(try await client.send(GetOffer()) == "shoes")
  clock.advance(by: .seconds(3_500))
  #expect(try await client.send(GetOffer()) == "shoes")
  clock.advance(by: .seconds(200))
  #expect(try await client.send(GetOffer()) == "hats")
}

// snippet.leaks
final class Screen: Sendable {
  let calls = CallOwner()
}

@Test func `a screen is let go`() async throws {
  let leaks = LeakCheck()
  do {
    let screen = Screen()
    leaks.watch(screen, "screen")
    let client = APIClient(baseURL: "http://h.example")
    client.configure { $0.transport = .own(ScriptedTransport(.json(#"{"nick":"Ada"}"#))) }
    _ = try await client.send(GetUser(id: 7), options: .owner(screen.calls))
  }
  #expect(await leaks.survivors().isEmpty)
}
// snippet.trait
@Test(.checksLeaks) func `nothing is left of the screen`() async throws {
  let client = APIClient(baseURL: "https://api.example.com")
  client.configure { $0.transport = .own(ScriptedTransport(.json(#"{"nick":"Ada"}"#))) }
  let screen = await UserScreen(client: client)
  LeakCheck.current?.watch(screen, "screen")
  await screen.load(7)
}
// snippet.end

// `swift test` discovers tests; here they are called one by one.
try await `the screen shows the nick`()
try await `a user is read, then the server fails`()
try await `the app's client is told the library's name`()
try await `a call is seen while it runs`()
try await `broken answers are told apart`()
try await `a tag is sent back`()
try await `a broken download continues`()
try await `a cancel ends a call in flight`()
try await `a cancel ends the app's own function`()
try await `the deadline ends a silent call`()
try await `a profile is kept for three minutes`()
try await `an offer ends at its date`()
try await `a screen is let go`()
try await `nothing is left of the screen`()
print("all held")
