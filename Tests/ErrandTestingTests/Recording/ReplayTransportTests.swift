import ErrandHTTP
import ErrandSupport
import Errand
import ErrandTesting
import Foundation
import Testing

struct ReplayTransportTests {
  private let base = "https://h.example"

  @Test func `responses come in recorded order`() async throws {
    let replay = ReplayTransport(
      Recording([
        try recorded("\(base)/a", .text("1")), try recorded("\(base)/b", .text("2")),
        try recorded("\(base)/a", .text("3")),
      ]))
    #expect(try await get("\(base)/a", over: replay) == "1")
    #expect(replay.unused.map(\.request.url.path) == ["/b", "/a"])
    #expect(try await get("\(base)/a", over: replay) == "3")
    #expect(try await get("\(base)/b", over: replay) == "2")
    #expect(replay.unused.isEmpty)
    #expect(try await get("\(base)/a", over: replay) == "3")
    #expect(replay.requests.map(\.url.path) == ["/a", "/a", "/b", "/a"])
  }

  private struct News: APIRequest {
    var path: Path { "/news" }
  }

  @Test(arguments: [["Cache-Control": "max-age=60"], ["Expires": "Sun, 06 Nov 1994 08:50:37 GMT"]])
  func `old responses keep their freshness`(freshness: [String: String]) async throws {
    var answer = ScriptedAnswer.text("1")
    for (name, value) in freshness { answer.head.fields[HTTPFieldName(name)] = value }
    answer.head.fields[.date] = "Sun, 06 Nov 1994 08:49:37 GMT"
    let replay = ReplayTransport(Recording([try recorded("\(base)/news", answer)]), afterLast: .refused)
    let client = APIClient(baseURL: base)
    client.configure {
      $0.transport = .own(replay)
      $0.cache.policy = .http
    }
    #expect(try await client.response(News()).origin == .network)
    #expect(try await client.response(News()).origin == .cacheFresh)
  }

  @Test func `dates of old responses are moved`() async throws {
    var answer = ScriptedAnswer.status(503)
    answer.head.fields[.date] = "Sun, 06 Nov 1994 08:49:37 GMT"
    answer.head.fields[.retryAfter] = "Sun, 06 Nov 1994 08:50:37 GMT"
    for cookie in [
      "a=1; Expires=Sun, 06 Nov 1994 09:49:37 GMT; Path=/", "b=2;expires=Sunday, 06-Nov-94 09:49:37 GMT",
      "c=Expires=1; Max-Age=5; Expires=soon", "d=; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
    ] {
      answer.head.fields.append(HTTPField(.setCookie, cookie))
    }
    let replay = ReplayTransport(Recording([try recorded("\(base)/a", answer)]), afterLast: .refused)
    let fields = try await replay.send(Exchange(request: HTTPRequest(url: "\(base)/a"))).fields
    let now = try #require(HTTPDate.milliseconds(of: fields[.date] ?? "", now: 0))
    #expect(fields[.retryAfter] == HTTPDate.text(milliseconds: now + 60_000))
    let later = HTTPDate.text(milliseconds: now + 3_600_000)
    let cookies = fields.values(of: .setCookie)
    #expect(Array(cookies.prefix(2)) == ["a=1; Expires=\(later); Path=/", "b=2; Expires=\(later)"])
    #expect(cookies[2] == "c=Expires=1; Max-Age=5; Expires=soon")
    let gone = cookies[3].split(separator: "=").last.map(String.init) ?? ""
    #expect(try #require(HTTPDate.milliseconds(of: gone, now: 0)) < now)
  }

  @Test func `delay of an old response stays`() async throws {
    var answer = ScriptedAnswer.status(503)
    answer.head.fields[.date] = "Sun, 06 Nov 1994 08:49:37 GMT"
    answer.head.fields[.retryAfter] = "7"
    let replay = ReplayTransport(Recording([try recorded("\(base)/a", answer)]), afterLast: .refused)
    let fields = try await replay.send(Exchange(request: HTTPRequest(url: "\(base)/a"))).fields
    #expect(fields[.retryAfter] == "7")
  }

  @Test func `repeated request can be rejected`() async throws {
    let replay = ReplayTransport(Recording([try recorded("\(base)/a", .text("1"))]), afterLast: .refused)
    #expect(try await get("\(base)/a", over: replay) == "1")
    let refused = try #require(await failure(of: HTTPRequest(url: "\(base)/a"), over: replay))
    #expect(refused.kind == .notRecorded)
    #expect(refused.description.hasPrefix("GET https://h.example/a was recorded once, but is sent again."))
  }

  @Test(arguments: [
    (
      "GET", "https://h.example/users/8", nil,
      "The most similar recorded request is exchange 1, GET https://h.example/users/7, which differs in: path."
    ),
    ("DELETE", "https://h.example/users/7", nil, "/users/7, which differs in: method."),
    ("GET", "http://other.example/users/7?x=1", nil, "which differs in: origin, query."),
    (
      "POST", "https://h.example/login", #"{"n":2}"#,
      "exchange 2, POST https://h.example/login, which differs in: body."
    ),
  ])
  func `error names the nearest exchange`(
    _ method: String, _ url: String, _ body: String?, _ words: String
  ) async throws {
    let replay = ReplayTransport(
      Recording([
        try recorded("\(base)/users/7", .text("1")),
        try recorded("\(base)/login", .text("2"), method: .post, body: #"{"n":1,"m":2}"#),
      ]))
    let request = try HTTPRequest(method: HTTPMethod(method), url: url, body: body.map { HTTPBody(Data($0.utf8)) })
    let refused = try #require(await failure(of: request, over: replay))
    #expect(refused.kind == .notRecorded && !refused.isCertainlyNotSent)
    #expect(refused.description.hasPrefix("\(method) \(url) is not recorded."))
    #expect(refused.description.contains(words), "\(refused)")
    #expect(
      refused.description.hasSuffix(
        "Record the request, or compare fewer parts of the request (parameter `matching:`)."))
  }

  @Test func `empty recording is reported`() async throws {
    let refused = await failure(of: try HTTPRequest(url: base), over: ReplayTransport(Recording()))
    #expect(refused?.description.contains("the recording is empty") == true)
  }

  @Test func `JSON bodies match by value`() async throws {
    let recording = Recording([try recorded(base, .text("ok"), method: .post, body: #"{"a":1,"b":[2]}"#)])
    let replay = ReplayTransport(recording)
    let same = try HTTPRequest(method: .post, url: base, body: HTTPBody(Data(#"{ "b": [2.0], "a": 1 }"#.utf8)))
    #expect(try await answer(to: same, over: replay) == "ok")
  }

  @Test func `compared parts can be chosen`() async throws {
    let recording = Recording([
      RecordedExchange(
        request: try HTTPRequest(url: "\(base)/a?x=1", fields: ["X-Step": "1"]), answer: .text("one")),
      RecordedExchange(
        request: try HTTPRequest(url: "\(base)/a?x=2", fields: ["X-Step": "2"]), answer: .text("two")),
    ])
    let byField = ReplayTransport(recording, matching: [.path, .field("X-Step")])
    let second = try HTTPRequest(method: .post, url: "http://other/a", fields: ["x-step": "2"])
    #expect(try await answer(to: second, over: byField) == "two")
    let own = RequestPart("last digit") { $0.url.string.last == $1.url.string.last }
    #expect(try await get("http://other/b?y=2", over: ReplayTransport(recording, matching: [own])) == "two")
  }

  @Test func `failures are replayed`() async throws {
    let replay = ReplayTransport(
      Recording([
        try recorded("\(base)/a", .failure(.closedBeforeResponse, "gone")),
        try recorded("\(base)/b", .text("half").breakingOff(.truncated)),
      ]))
    #expect(await failure(of: try HTTPRequest(url: "\(base)/a"), over: replay)?.description == "gone")
    let bytes = Locked("")
    let sink = CollectingSink { piece in bytes.withLock { $0 += piece } }
    let exchange = Exchange(request: try HTTPRequest(url: "\(base)/b"), sink: sink)
    await #expect(throws: TransportFailure(.truncated, "scripted break")) { try await replay.send(exchange) }
    #expect(bytes.withLock { $0 } == "half")
    #expect(!sink.hasEnded)
  }

  @Test func `paused sink waits and cancels`() async throws {
    let replay = ReplayTransport(Recording([try recorded(base, .text(String(repeating: "x", count: 50_000)))]))
    let call = CallState()
    let sink = CollectingSink(pausing: true) { _ in call.stop(.cancelled) }
    let exchange = Exchange(request: try HTTPRequest(url: base), call: call, sink: sink)
    await #expect(throws: CallState.Stopped(reason: .cancelled)) { try await replay.send(exchange) }
    #expect(sink.pieces == 1 && !sink.hasEnded)
  }

  @Test func `replay is chosen by name`() async throws {
    let name = "replay-\(UUID().uuidString)"
    let recording = Recording([try recorded("\(base)/users/7", .json(#"{"nick":"Ada"}"#))])
    TransportRegistry.shared.register(name) { ReplayTransport(recording) }
    var configuration = ClientConfiguration(baseURL: base)
    configuration.transport = .named(name)
    let client = APIClient(configuration)
    #expect(try await client.send(ReplayUser(id: 7)).nick == "Ada")
    let error = try #require(await client.outcome(of: ReplayUser(id: 8)).error)
    #expect(error.transportKind == .notRecorded)
    #expect("\(error)".contains("users/7"))
  }

  @Test func `unmatched request is not retried`() async throws {
    let replay = ReplayTransport(Recording())
    var configuration = ClientConfiguration(baseURL: base)
    configuration.transport = .own(replay)
    configuration.retries = RetryPolicy(attempts: 3)
    let outcome = await APIClient(configuration).outcome(of: ReplayUser(id: 7))
    #expect(outcome.error?.transportKind == .notRecorded)
    #expect(replay.requests.count == 1)
  }

  @Test func `learnt value matches in replay`() async throws {
    let request = try HTTPRequest(
      method: .post, url: "\(base)/login", fields: ["Content-Type": "application/json"],
      body: HTTPBody(Data(#"{"email":"ada99@example.com","password":"x"}"#.utf8)))
    let reply = ScriptedAnswer.json(#"{"user":{"email":"ada99@example.com"}}"#)
    let recorder = RecordingTransport(ScriptedTransport(reply), mask: RecordingMask(paths: ["user.email"]))
    _ = try await recorder.send(Exchange(request: request))
    let replay = ReplayTransport(try recorder.recording())
    #expect(try await answer(to: request, over: replay).contains("masked"))
    let other = try HTTPRequest(
      method: .post, url: "\(base)/login", fields: ["Content-Type": "application/json"],
      body: HTTPBody(Data(#"{"other":"ada99@example.com","password":"x"}"#.utf8)))
    #expect(await failure(of: other, over: ReplayTransport(try recorder.recording()))?.kind == .notRecorded)
  }
}

struct ReplayUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  struct Response: Decodable, Sendable { let nick: String }
}

/// A sink that passes each piece on as text.
final class CollectingSink: BodySink {
  private struct State {
    var pieces = 0
    var hasEnded = false
  }

  private let state = Locked(State())
  private let pausing: Bool
  private let onPiece: @Sendable (String) -> Void

  init(pausing: Bool = false, _ onPiece: @escaping @Sendable (String) -> Void) {
    self.pausing = pausing
    self.onPiece = onPiece
  }

  var pieces: Int { state.withLock { $0.pieces } }
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }

  func write(_ piece: UnsafeRawBufferPointer) -> Bool {
    state.withLock { $0.pieces += 1 }
    onPiece(String(decoding: piece, as: UTF8.self))
    return !pausing
  }

  func end() { state.withLock { $0.hasEnded = true } }
}
