@testable import ErrandCore
import Errand
import ErrandHTTP
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Several servers with the same content, over real sockets.
struct FailOverTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var method = HTTPMethod.get
    var body: RequestBody?
    var joining = JoinRule.never
    var cache = CachePolicy.none
    var credential = RequestCredential.inherited
    var overlap: Overlap { Overlap(joining: joining) }
  }

  private func client(
    _ servers: LoopbackServer..., change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> APIClient {
    client(at: servers.map(\.url), change)
  }

  private func client(at urls: [String], _ change: (inout ClientConfiguration) -> Void = { _ in }) -> APIClient {
    var configuration = ClientConfiguration(baseURL: urls[0] + "/v1")
    configuration.servers.current.fallbackURLs = urls.dropFirst().map { $0 + "/v2" }
    change(&configuration)
    return APIClient(configuration)
  }

  /// A client of the servers `first.example` and `second.example`, whose exchanges a transport answers.
  private func client(
    over transport: any Transport, _ clock: ManualClock, _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://first.example")
    configuration.servers.current.fallbackURLs = ["http://second.example"]
    configuration.transport = .own(transport)
    configuration.timers = clock
    change(&configuration)
    return APIClient(configuration)
  }

  private func good() throws -> LoopbackServer { try LoopbackServer { .ok("\($0.path) \($0.bodyText)") } }

  @Test(arguments: [
    LoopbackAnswer.status(503, headers: ["Retry-After": "3600"]), .status(502), .ok().cut(after: 0, of: .everything),
    .ok("much").cut(after: 2), .ok("much").reset(after: 1),
  ])
  func `failed server is replaced immediately`(bad: LoopbackAnswer) async throws {
    let (first, second) = (try LoopbackServer { _ in bad }, try good())
    // The client asks a failed server again after five seconds of its clock.
    let client = client(first, second) { $0.timers = ManualClock() }
    let outcome = await client.outcome(of: Get(method: .put, body: .text("body")))
    #expect(outcome.value == "/v2/thing body", "\(outcome.error?.message ?? "")")
    #expect(outcome.metrics.retries.count == 1 && outcome.metrics.retries[0].delay == .zero)
    #expect(outcome.request?.url.string == second.url + "/v2/thing")
    let count = first.requests.count
    #expect(await client.outcome(of: Get()).value == "/v2/thing ")
    #expect(first.requests.count == count, "the failed server gets no request for a while")
  }

  @Test func `refusing server is skipped`() async throws {
    let (port, second) = (try RefusingPort(), try good())
    defer { withExtendedLifetime(port) {} }
    let post = await client(at: [port.url, second.url]).outcome(of: Get(method: .post, body: .text("body")))
    #expect(post.value == "/v2/thing body", "a POST moves too, because nothing was sent")
  }

  /// Sends a request to "/silent", which gets no response before its deadline. Returns the host of the next request.
  private func hostAfterSilence(of silent: Get) async -> String? {
    let (clock, silence) = (ManualClock(), Latch())
    let transport = ScriptedTransport { request in
      if request.url.path == "/silent" { try await silence.wait() }
      return .text(request.url.host)
    }
    let client = client(over: transport, clock)
    async let outcome = client.outcome(of: silent, options: .deadline(.seconds(5)))
    #expect(await eventually { transport.requests.count == 1 })
    clock.advance(by: .seconds(5))
    #expect(await outcome.error?.stage == .deadline)
    return await client.outcome(of: Get()).value
  }

  @Test func `server silent until deadline is asked last`() async {
    #expect(await hostAfterSilence(of: Get(path: "/silent")) == "second.example")
  }

  @Test func `slow body blames no server`() async {
    /// Reports a first byte, and never ends an exchange to "/slow".
    struct SlowBody: Transport {
      let begun: Latch
      let end = Latch()

      func send(_ exchange: Exchange) async throws -> HTTPResponse {
        let url = exchange.request.url
        if url.path == "/slow" {
          var metrics = ExchangeMetrics()
          metrics.firstByte = .milliseconds(1)
          exchange.handling.observer?.measured(metrics)
          begun.open()
          try await end.wait()
        }
        return HTTPResponse(head: ResponseHead(status: 200), body: Data(url.host.utf8), url: url)
      }
    }
    let (clock, begun) = (ManualClock(), Latch())
    let client = client(over: SlowBody(begun: begun), clock)
    async let outcome = client.outcome(of: Get(path: "/slow"), options: .deadline(.seconds(5)))
    try? await begun.wait()
    clock.advance(by: .seconds(5))
    #expect(await outcome.error?.stage == .deadline)
    #expect(await client.outcome(of: Get()).value == "first.example")
  }

  @Test(arguments: [(65_536, "second.example"), (65_537, "first.example")])
  func `long upload blames no server`(length: Int, next: String) async {
    let upload = Get(path: "/silent", method: .put, body: .bytes(Data(count: length)))
    #expect(await hostAfterSilence(of: upload) == next)
  }

  @Test func `call that was not sent blames no server`() async {
    let (clock, latch) = (ManualClock(), Latch())
    let transport = ScriptedTransport { request in
      try await latch.wait()
      return .text(request.url.host)
    }
    let client = client(over: transport, clock) { $0.admission = AdmissionLimits(perHost: 1) }
    async let running = client.outcome(of: Get(), options: .deadline(.seconds(60)))
    #expect(await eventually { transport.requests.count == 1 })
    async let waiting = client.outcome(of: Get(), options: .deadline(.seconds(5)))
    #expect(await eventually { client.admission.waiting == 1 })
    clock.advance(by: .seconds(5))
    #expect(await waiting.error?.stage == .deadline)
    latch.open()
    #expect(await running.value == "first.example")
    #expect(await client.outcome(of: Get()).value == "first.example")
  }

  @Test func `POST is not sent to a second server`() async throws {
    let (first, second) = (try LoopbackServer { _ in .status(503) }, try good())
    let outcome = await client(first, second).outcome(of: Get(method: .post, body: .text("body")))
    #expect(outcome.error?.status == 503 && second.requests.isEmpty)
  }

  @Test(arguments: [400, 404, 429, 500]) func `other error statuses do not fail over`(status: Int) async throws {
    let (first, second) = (try LoopbackServer { _ in .status(status) }, try good())
    let outcome = await client(first, second).outcome(of: Get())
    #expect(outcome.error?.status == status && second.requests.isEmpty)
  }

  @Test func `last failure is reported`() async throws {
    let servers = [try LoopbackServer { _ in .status(502) }, try LoopbackServer { _ in .status(503) }]
    let outcome = await client(servers[0], servers[1]).outcome(of: Get())
    #expect(outcome.error?.status == 503 && outcome.error?.attempts == 2)
    #expect(servers.map(\.requests.count) == [1, 1])
  }

  @Test func `retries go through all servers`() async throws {
    let servers = [try LoopbackServer { _ in .status(503) }, try LoopbackServer { _ in .status(503) }]
    let client = client(servers[0], servers[1]) { $0.retries = RetryPolicy(firstDelay: .zero, busyDelay: .zero) }
    let outcome = await client.outcome(of: Get())
    #expect(outcome.error?.status == 503 && outcome.error?.attempts == 6)
    #expect(servers.map(\.requests.count) == [3, 3])
  }

  @Test func `fallback receives credential and signature`() async throws {
    let (first, second) = (try LoopbackServer { _ in .status(503) }, try good())
    let client = client(first, second) { configuration in
      configuration.credentials = FixedCredential(.bearer("t"), account: "ada")
      configuration.interceptors.exchanges = [Signing { $0.fields["X-Signature"] = "signed" }]
    }
    for credential in [RequestCredential.inherited, .bearer("t")] {
      #expect(await client.outcome(of: Get(credential: credential)).error == nil)
    }
    #expect(second.requests.count == 2)
    for request in second.requests {
      #expect(request.headers["Authorization"] == "Bearer t" && request.headers["X-Signature"] == "signed")
    }
  }

  @Test func `fallback addressed directly receives credential`() async throws {
    let (first, second) = (try good(), try good())
    let request = Get(path: RequestPath(second.url + "/v2/thing"), credential: .bearer("t"))
    #expect(await client(first, second).outcome(of: request).error == nil)
    #expect(first.requests.isEmpty && second.requests.map { $0.headers["Authorization"] } == ["Bearer t"])
  }

  @Test func `redirect from fallback carries no credential`() async throws {
    let stranger = try good()
    let (first, second) = (
      try LoopbackServer { _ in .status(503) }, try LoopbackServer { _ in .redirect(to: stranger.url) }
    )
    let client = client(first, second) { $0.credentials = FixedCredential(.bearer("t"), account: "ada") }
    #expect(await client.outcome(of: Get()).error == nil)
    #expect(second.requests[0].headers["Authorization"] == "Bearer t")
    #expect(stranger.requests.count == 1 && stranger.requests[0].headers["Authorization"] == nil)
  }

  @Test func `fallback response is stored for the first`() async throws {
    let (first, second) = (try LoopbackServer { _ in .status(503) }, try good())
    let client = client(first, second)
    let kept = Get(cache: .lifetime(.seconds(600)))
    #expect(await client.outcome(of: kept).origin == .network)
    #expect(await client.outcome(of: kept).origin == .cacheFresh)
  }

  @Test func `other URLs do not fail over`() async throws {
    let (first, second) = (try LoopbackServer { _ in .status(503) }, try good())
    let outcome = await client(first, second).outcome(of: Get(path: RequestPath(first.url + "/other")))
    #expect(outcome.error?.status == 503 && second.requests.isEmpty)
  }

  @Test func `retry budget limits fail-over`() async throws {
    let (first, second) = (try LoopbackServer { _ in .status(503) }, try LoopbackServer { _ in .status(503) })
    let client = client(first, second) { $0.admission = AdmissionLimits(perHost: 16, total: 32) }
    await withTaskGroup { group in
      for _ in 0..<500 { group.addTask { _ = await client.outcome(of: Get()) } }
    }
    let sent = first.requests.count + second.requests.count
    // Each budget of 500 tokens pays for 100 attempts at five tokens each.
    #expect(sent >= 600 && sent <= 700, "\(sent)")
  }

  @Test func `second server's budget refills`() async throws {
    let isDown = Locked(true)
    let (first, second, third) = (
      try LoopbackServer { _ in .status(503) },
      try LoopbackServer { _ in isDown.withLock { $0 } ? .status(503) : .ok("second") },
      try LoopbackServer { _ in .status(503) }
    )
    let client = client(first, second, third)
    let origin = try HTTPURL(second.url).origin
    #expect(await client.outcome(of: Get()).error?.status == 503)
    let control = client.services.retrying
    #expect(control.pay(495, at: origin) && !control.pay(1, at: origin))
    isDown.withLock { $0 = false }
    for _ in 0..<3 { #expect(await client.outcome(of: Get()).value == "second") }
    #expect(control.pay(3, at: origin) && !control.pay(1, at: origin))
  }

  @Test func `open breaker fails over`() async throws {
    let (first, second) = (try LoopbackServer { _ in .status(500) }, try good())
    let client = client(first, second) { $0.servers.breaker = BreakerRule(least: 2) }
    for _ in 0..<2 { #expect(await client.outcome(of: Get()).error?.status == 500) }
    #expect(await client.outcome(of: Get()).value == "/v2/thing ")
    #expect(first.requests.count == 2)
  }

  @Test func `open breaker keeps an earlier response`() async throws {
    let (first, second) = (try LoopbackServer { _ in .status(503) }, try LoopbackServer { _ in .status(500) })
    let client = client(first, second) { $0.servers.breaker = BreakerRule(least: 2) }
    for _ in 0..<2 { _ = await client.outcome(of: Get(path: RequestPath(second.url + "/v2/thing"))) }
    #expect(await client.outcome(of: Get()).error?.status == 503)
    #expect(first.requests.count == 1 && second.requests.count == 2)
  }

  @Test func `failed write marks its server unhealthy`() async throws {
    let (first, second) = (try LoopbackServer { _ in .status(503) }, try good())
    let write = Get(method: .post, body: .text("body"))
    // The client asks a failed server again after five seconds of its clock.
    let client = client(first, second) { $0.timers = ManualClock() }
    #expect(await client.outcome(of: write).error?.status == 503)
    #expect(await client.outcome(of: write).value == "/v2/thing body")
    #expect(await client.outcome(of: Get()).value == "/v2/thing ")
    #expect(first.requests.count == 1)
  }

  @Test func `one-shot body does not fail over`() async throws {
    let (first, second) = (try LoopbackServer { _ in .status(503) }, try good())
    let stream = AsyncStream<Data> {
      $0.yield(Data("x".utf8)); $0.finish()
    }
    let outcome = await client(first, second).outcome(of: Get(method: .put, body: .pieces(stream, length: 1)))
    #expect(outcome.error?.status == 503 && second.requests.isEmpty)
  }

  // MARK: - With a manual clock

  @Test func `simultaneous failures count once`() async {
    let (clock, latch, seen) = (ManualClock(), Latch(), Recorded<String>())
    let transport = ScriptedTransport { request in
      seen.append(request.url.host)
      guard request.url.host == "first.example" else { return .text("right") }
      try await latch.wait()
      return .status(503)
    }
    let client = client(over: transport, clock)
    let calls = (0..<7).map { _ in Task { await client.outcome(of: Get()) } }
    await latch.reached(7)
    clock.advance(by: .seconds(1))
    latch.open()
    for call in calls { #expect(await call.value.value == "right") }
    clock.advance(by: .seconds(5))
    #expect(await client.outcome(of: Get()).value == "right")
    #expect(seen.all.suffix(2) == ["first.example", "second.example"], "the first server is asked again")
  }

  /// Two servers with one script, which receives the host and the number of its requests so far.
  private func scripted(
    _ clock: ManualClock, _ seen: Recorded<String>, answer: @escaping @Sendable (String, Int) -> ScriptedAnswer
  ) -> APIClient {
    let transport = ScriptedTransport { request in
      seen.append(request.url.host)
      return answer(request.url.host, seen.all.count { $0 == request.url.host })
    }
    return client(over: transport, clock) { $0.retries = RetryPolicy(attempts: 3, firstDelay: .zero, busyDelay: .zero) }
  }

  private static func busy(_ seconds: Int) -> ScriptedAnswer {
    ScriptedAnswer(status: 503, fields: ["Retry-After": "\(seconds)"])
  }

  @Test func `server gets no request before Retry-After`() async {
    let seen = Recorded<String>()
    let client = scripted(ManualClock(), seen) { host, turn in
      if host == "first.example" { return Self.busy(3600) }
      return turn < 3 ? .status(503) : .text("at last")
    }
    let outcome = await client.outcome(of: Get(), options: .deadline(.never))
    #expect(outcome.value == "at last")
    #expect(seen.all == ["first.example", "second.example", "second.example", "second.example"])
  }

  @Test func `call waits for the earliest server`() async {
    let (clock, seen) = (ManualClock(), Recorded<String>())
    let client = scripted(clock, seen) { host, turn in
      turn > 1 ? .text("right") : Self.busy(host == "first.example" ? 20 : 30)
    }
    async let outcome = client.outcome(of: Get(), options: .deadline(.never))
    #expect(await clock.waitForTimers(1))
    clock.advance(by: .milliseconds(19_999))
    #expect(seen.count == 2 && clock.pending == 1)
    clock.advance(by: .milliseconds(1))
    #expect(await outcome.value == "right")
    #expect(seen.all == ["first.example", "second.example", "first.example"])
    #expect(await outcome.metrics.retries.map(\.delay) == [.zero, .seconds(20)])
  }

  @Test func `too long Retry-After fails immediately`() async {
    let (clock, seen) = (ManualClock(), Recorded<String>())
    let client = scripted(clock, seen) { host, _ in Self.busy(host == "first.example" ? 90 : 61) }
    #expect(await client.outcome(of: Get(), options: .deadline(.never)).error?.status == 503)
    #expect(seen.count == 2 && clock.pending == 0)
  }

  @Test func `invalid fallback list is an error`() async throws {
    let server = try good()
    let client = client(server) { $0.servers.current.fallbackURLs = ["nowhere"] }
    let error = await client.outcome(of: Get()).error
    #expect(error?.stage == .build && error?.code == .invalidURL)
  }

  @Test func `successful fail-over refills the budget`() async throws {
    let (port, second, clock) = (try RefusingPort(), try good(), ManualClock())
    defer { withExtendedLifetime(port) {} }
    let client = client(at: [port.url, second.url]) { $0.timers = clock }
    for _ in 0..<110 {
      #expect(await client.outcome(of: Get()).value == "/v2/thing ")
      clock.advance(by: .seconds(300))
    }
  }

  @Test func `redirect is resolved at its server`() async throws {
    let dead = try RefusingPort()
    defer { withExtendedLifetime(dead) {} }
    let second = try LoopbackServer { request in
      switch request.path {
      case "/v2/thing": .status(302, headers: ["Location": "/moved"])
      default: .ok("\(request.path) \(request.bodyText)")
      }
    }
    let third = try LoopbackServer { request in
      request.path == "/v2/thing"
        ? .status(307, headers: ["Location": "http://\(request.headers["Host"] ?? "")/v2/there"])
        : .ok("\(request.path) \(request.bodyText)")
    }
    #expect(await client(at: [dead.url, second.url]).outcome(of: Get()).value == "/moved ")
    let put = await client(at: [dead.url, third.url]).outcome(of: Get(method: .put, body: .text("body")))
    #expect(put.value == "/v2/there body", "the body is resent to its own server: \(put.error?.message ?? "")")
  }

  @Test func `redirect among fallbacks keeps secrets and body`() async throws {
    let first = try LoopbackServer { _ in .status(503) }
    let second = try LoopbackServer { request in
      request.path == "/v2/thing"
        ? .status(307, headers: ["Location": first.url + "/v1/there"])
        : .ok("\(request.headers["X-Api-Key"] ?? "no key") \(request.bodyText)")
    }
    let client = client(first, second) { $0.headers = ["X-Api-Key": .secret("s3cret12")] }
    let put = await client.outcome(of: Get(method: .put, body: .text("body")))
    #expect(put.value == "s3cret12 body", "\(put.error?.message ?? "")")
  }
}
