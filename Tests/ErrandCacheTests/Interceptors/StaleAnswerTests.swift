import Errand
import ErrandCore
import ErrandHTTP
import ErrandTesting
import StoreSamples
import Testing

@testable import ErrandCache

/// Stale responses: served while they are refreshed or instead of a failure, but never if the server forbids it.
struct StaleAnswerTests {
  private static let whileRevalidating: HTTPFields = ["Cache-Control": "max-age=60, stale-while-revalidate=600"]
  private static let ifError: HTTPFields = ["Cache-Control": "max-age=60, stale-if-error=600"]

  /// A client that has stored the first response. The age of the response is in seconds, and is more than its lifetime
  /// if no age is given.
  private static func fixture(
    age: Int = 61, _ answer: @escaping @Sendable (HTTPRequest, Int) async throws -> ScriptedAnswer
  ) async throws -> CacheFixture {
    let fixture = CacheFixture(answer)
    _ = try await fixture.client.send(Page.http())
    fixture.pass(age)
    return fixture
  }

  /// Such a client, whose server sends `later` after the first response.
  private static func fixture(
    age: Int = 61, _ fields: HTTPFields, then later: ScriptedAnswer
  ) async throws -> CacheFixture {
    try await fixture(age: age) { _, number in number == 1 ? .page("body", fields) : later }
  }

  /// Such a client, whose server holds every later request at a latch.
  private static func fixture(_ fields: HTTPFields, holdingAt latch: Latch) async throws -> CacheFixture {
    try await fixture { _, number in
      if number > 1 { try await latch.wait() }
      return .page("answer \(number)", fields)
    }
  }

  @Test func `hundred concurrent reads refresh once`() async throws {
    let latch = Latch()
    let fixture = try await Self.fixture(Self.whileRevalidating, holdingAt: latch)
    let values = try await withThrowingTaskGroup(of: APIResponse<String>.self) { group in
      for _ in 1...100 { group.addTask { try await fixture.client.response(Page.http()) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(values.allSatisfy { $0.value == "answer 1" && $0.origin == .cacheStale })
    await latch.reached()
    #expect(fixture.asked == 2)
    latch.open()
    await fixture.settled()
    #expect(try await fixture.client.response(Page.http()).value == "answer 2")
    #expect(fixture.asked == 2)
  }

  @Test func `stale variants refresh concurrently`() async throws {
    let latch = Latch()
    let fields: HTTPFields = ["Cache-Control": "max-age=60, stale-while-revalidate=600", "Vary": "Accept-Language"]
    let fixture = CacheFixture { request, number in
      if number > 3 { try await latch.wait() }
      return .page("\(request.fields["Accept-Language"] ?? "") \(number)", fields)
    }
    let pages = ["de", "en", "fr"].map { Page.http(headers: ["Accept-Language": .text($0)]) }
    for page in pages { _ = try await fixture.client.send(page) }
    fixture.pass(61)
    for _ in 1...3 {
      for page in pages { #expect(try await fixture.client.response(page).origin == .cacheStale) }
    }
    while fixture.asked < 6 { await Task.yield() }
    latch.open()
    await fixture.settled()
    #expect(fixture.asked == 6)
    for page in pages { #expect(try await fixture.client.response(page).origin == .cacheFresh) }
  }

  @Test(arguments: ["max-age=0, private, must-revalidate", "private", "max-age=60"])
  func `failure does not replace the stored response`(control: String) async throws {
    let failure = ScriptedAnswer(status: 503, fields: ["Cache-Control": control])
    let fixture = try await Self.fixture(Self.ifError, then: failure)
    for _ in 0..<3 { #expect(await fixture.client.outcome(of: Page.http()).value == "body") }
    #expect(fixture.asked == 4)
  }

  @Test(arguments: [404, 410]) func `404 past the cache removes the entry`(status: Int) async throws {
    let fixture = CacheFixture { _, number in number == 1 ? .text("old") : .status(status) }
    _ = try await fixture.client.send(Page())
    let outcome = await fixture.client.outcome(of: Page(), options: .cache(.ignoringCache))
    #expect(outcome.error?.status == status)
    #expect(await fixture.miss() == .missing)
  }

  @Test func `quick refresh is not repeated`() async throws {
    for _ in 1...20 {
      let fixture = try await Self.fixture { _, number in .page("answer \(number)", Self.whileRevalidating) }
      await withTaskGroup(of: Void.self) { group in
        for _ in 1...50 { group.addTask { _ = try? await fixture.client.send(Page.http()) } }
      }
      await fixture.settled()
      #expect(fixture.asked == 2)
    }
  }

  @Test func `late reader starts no second refresh`() async throws {
    let store = SlowStore(MemoryStore())
    let fixture = CacheFixture(store: store) { _, number in .page("answer \(number)", Self.whileRevalidating) }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(61)
    let latch = Latch()
    store.holdNext(at: latch)
    let client = fixture.client
    async let late = client.send(Page.http())
    await latch.reached()
    _ = try await client.send(Page.http())
    await fixture.settled()
    #expect(fixture.asked == 2)
    latch.open()
    #expect(try await late == "answer 1", "the lookup was before the refresh")
    await fixture.settled()
    #expect(fixture.asked == 2)
  }

  @Test func `failed refresh is retried`() async throws {
    let fixture = try await Self.fixture { _, number in
      number == 2 ? .failure(.offline) : .page("answer \(number)", Self.whileRevalidating)
    }
    for _ in 1...2 {
      #expect(try await fixture.client.send(Page.http()) == "answer 1")
      await fixture.settled()
      fixture.pass(1)
    }
    #expect(try await fixture.client.send(Page.http()) == "answer 3")
  }

  @Test func `failed refreshes back off`() async throws {
    let fixture = try await Self.fixture(Self.whileRevalidating, then: .status(500))
    // The pauses are 1, 2 and 4 seconds.
    for asked in [2, 3, 3, 4, 4, 4, 4, 5] {
      for _ in 1...50 {
        #expect(try await fixture.client.send(Page.http()) == "body")
        await fixture.settled()
      }
      #expect(fixture.asked == asked)
      fixture.pass(1)
    }
  }

  @Test func `refresh waits for Retry-After`() async throws {
    let fixture = try await Self.fixture { _, number in
      number == 2
        ? ScriptedAnswer(status: 503, fields: ["Retry-After": "120"])
        : .page("answer \(number)", Self.whileRevalidating)
    }
    for (seconds, asked) in [(119, 2), (1, 2), (0, 3)] {
      #expect(try await fixture.client.send(Page.http()) == "answer 1")
      await fixture.settled()
      #expect(fixture.asked == asked)
      fixture.pass(seconds)
    }
    #expect(try await fixture.client.send(Page.http()) == "answer 3")
  }

  @Test func `new response resets failures`() async throws {
    let fixture = try await Self.fixture { _, number in
      number == 2 || number == 3 ? .status(500) : .page("answer \(number)", Self.whileRevalidating)
    }
    for _ in 1...2 {
      _ = try await fixture.client.send(Page.http())
      await fixture.settled()
      fixture.pass(1)
    }
    // The pause of two seconds is not over. Another call stores a fresh response, which then becomes stale.
    _ = try await fixture.client.send(Page.http(), options: .cache(.ignoringCache))
    fixture.pass(61)
    #expect(try await fixture.client.send(Page.http()) == "answer 4")
    await fixture.settled()
    #expect(fixture.asked == 5)
  }

  @Test func `refresh outlives its call`() async throws {
    let latch = Latch()
    let fixture = try await Self.fixture(Self.whileRevalidating, holdingAt: latch)
    _ = try await fixture.client.send(Page.http(), options: .tag("gone"))
    await latch.reached()
    #expect(fixture.client.cancelAll() == 0)
    latch.open()
    await fixture.settled()
    #expect(await fixture.stored(.http()) == "answer 2")
  }

  @Test func `clearing stops the refresh`() async throws {
    let latch = Latch()
    let fixture = try await Self.fixture(Self.whileRevalidating, holdingAt: latch)
    _ = try await fixture.client.send(Page.http())
    await latch.reached()
    fixture.cache.removeAll()
    await fixture.settled()
    #expect(await fixture.miss(.http()) == .missing)
  }

  @Test func `refresh ignores caller's conditions`() async throws {
    let fixture = try await Self.fixture { _, number in
      .page("answer \(number)", Self.whileRevalidating).with(.eTag, "\"\(number)\"")
    }
    let page = Page.http(headers: ["If-None-Match": "\"0\""])
    #expect(try await fixture.client.send(page) == "answer 1")
    await fixture.settled()
    #expect(fixture.transport.requests[1].fields.values(of: "If-None-Match") == ["\"1\""])
  }

  @Test(arguments: [
    (Page.http(), CacheReadMode.cacheOnly),
    (Page.http(headers: ["Cache-Control": "only-if-cached"]), .asDeclared),
  ])
  func `cache only starts no refresh`(page: Page, mode: CacheReadMode) async throws {
    let fixture = try await Self.fixture { _, number in .page("answer \(number)", Self.whileRevalidating) }
    let response = try await fixture.client.response(page, options: CallOptions(cache: mode))
    #expect(response.value == "answer 1" && response.origin == .cacheStale)
    await fixture.settled()
    #expect(fixture.asked == 1, "no request is sent, not even in the background")
  }

  @Test func `local 304 refreshes, too`() async throws {
    let fixture = try await Self.fixture { _, number in
      .page("answer \(number)", Self.whileRevalidating).with(.eTag, "\"\(number)\"")
    }
    let page = Page(cache: .http, headers: ["If-None-Match": "\"1\""], statusRule: .any)
    #expect(try await fixture.client.response(page).status == 304)
    await fixture.settled()
    #expect(fixture.asked == 2)
    #expect(await fixture.stored(.http()) == "answer 2")
  }

  @Test func `after the window the server responds`() async throws {
    let fixture = try await Self.fixture(age: 661) { _, number in .page("answer \(number)", Self.whileRevalidating) }
    #expect(try await fixture.client.send(Page.http()) == "answer 2")
  }

  // MARK: - Instead of a failure

  @Test(arguments: [500, 502, 503, 504], [true, false])
  func `stored response replaces a server error`(_ status: Int, _ hasExchangeInterceptors: Bool) async throws {
    try await expectStaleFallback(after: .text("oops", status: status), hasExchangeInterceptors)
  }

  @Test(
    arguments: [
      TransportFailure.Kind.offline, .nameLookup, .refused, .connectTimeout, .idleTimeout, .closedBeforeResponse,
      .reset, .truncated,
    ], [true, false])
  func `stored response replaces a transport failure`(
    _ kind: TransportFailure.Kind, _ hasExchangeInterceptors: Bool
  ) async throws {
    try await expectStaleFallback(after: .failure(kind), hasExchangeInterceptors)
  }

  private func expectStaleFallback(after failure: ScriptedAnswer, _ hasExchangeInterceptors: Bool) async throws {
    let signing: [any Interceptor] = hasExchangeInterceptors ? [Signing { $0.fields["X-Signature"] = "s" }] : []
    let fixture = CacheFixture(change: { $0.interceptors.exchanges = signing }) { _, number in
      number == 1 ? .page("body", Self.ifError) : failure
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(61)
    let answer = try await fixture.client.response(Page.http())
    #expect(answer.value == "body" && answer.origin == .cacheStale && answer.fields["Age"] == "61")
    let status = try #require(answer.metrics.cache?.status)
    #expect(status.hasPrefix("Errand; fwd=stale; ") && status.hasSuffix("ttl=-1; detail=stale-if-error"))
    #expect(fixture.asked == 2)
    fixture.pass(600)
    #expect(await fixture.client.outcome(of: Page.http()).error != nil, "the stale-if-error window has ended")
  }

  @Test(
    arguments: [
      (.asDeclared, 61, 503, "fwd=stale; fwd-status=503; ttl=-1"), (.asDeclared, 61, nil, "fwd=stale; ttl=-1"),
      (.networkElseCached, 61, 500, "fwd=stale; fwd-status=500; ttl=-1"),
      (.networkElseCached, 1, nil, "fwd=request; ttl=59"),
      (.revalidating, 1, 504, "fwd=request; fwd-status=504; ttl=59"),
    ] as [(CacheReadMode, Int, Int?, String)])
  func `forwarded request is no hit`(mode: CacheReadMode, age: Int, status: Int?, text: String) async throws {
    let failure = status.map { ScriptedAnswer.status($0) } ?? .failure(.offline)
    let fixture = try await Self.fixture(age: age, Self.ifError, then: failure)
    let report = try await fixture.client.response(Page.http(), options: .cache(mode)).metrics.cache
    #expect(report?.status == "Errand; \(text); detail=stale-if-error" && report?.origin == .cacheStale)
  }

  /// A client whose server answers only the first request.
  private func failing(_ control: String, _ status: Int?, age: Int = 61) async throws -> CacheFixture {
    try await Self.fixture(age: age) { _, number in
      if number == 1 { return .page("0123456789", ["Cache-Control": "\(control)", .eTag: "\"a\""]) }
      return status.map { ScriptedAnswer(status: $0, fields: ["Cache-Control": "max-age=60"]) } ?? .failure(.offline)
    }
  }

  @Test(arguments: [503, nil], [1, 61]) func `failure serves a range`(status: Int?, age: Int) async throws {
    let fixture = try await failing("max-age=60", status, age: age)
    let page = Page.http(headers: ["Range": "bytes=2-4"])
    let response = try await fixture.client.response(page, options: .cache(.networkElseCached))
    #expect(response.status == 206 && response.value == "234" && response.origin == .cacheStale)
    #expect(response.fields["Content-Range"] == "bytes 2-4/10" && fixture.asked == 2)
    #expect(response.metrics.cache?.status.hasPrefix("Errand; fwd=bypass;") == true)
    let after = Page.http(headers: ["Range": "bytes=10-"])
    #expect(await fixture.client.outcome(of: after, options: .cache(.networkElseCached)).error != nil)
    #expect(await fixture.stored(Page.http()) == "0123456789")
  }

  @Test(arguments: [("a", 304, ""), ("b", 206, "01")])
  func `condition precedes the range`(tag: String, status: Int, body: String) async throws {
    let fixture = try await failing("max-age=60", nil)
    var page = Page.http(headers: ["If-None-Match": .text("\"\(tag)\""), "Range": "bytes=0-1"])
    page.statusRule = .any
    let response = try await fixture.client.response(page, options: .cache(.networkElseCached))
    #expect(response.status == status && response.value == body && fixture.asked == 2)
  }

  @Test func `stale-if-error allows a range`() async throws {
    let fixture = try await failing("max-age=60, stale-if-error=600", 503)
    #expect(try await fixture.client.send(Page.http(headers: ["Range": "bytes=-2"])) == "89")
    fixture.pass(600)
    #expect(await fixture.client.outcome(of: Page.http(headers: ["Range": "bytes=-2"])).error?.status == 503)
  }

  @Test(arguments: [503, nil], [("a", 304, ""), ("b", 200, "0123456789")])
  func `failure answers a condition`(status: Int?, condition: (tag: String, status: Int, body: String)) async throws {
    let fixture = try await failing("max-age=60", status)
    var page = Page.http(headers: ["If-None-Match": .text("\"\(condition.tag)\"")])
    page.statusRule = .any
    let response = try await fixture.client.response(page, options: .cache(.networkElseCached))
    #expect(response.status == condition.status && response.value == condition.body && fixture.asked == 2)
    #expect(fixture.transport.requests.last?.fields.values(of: "If-None-Match") == ["\"\(condition.tag)\""])
    #expect(await fixture.stored(Page.http()) == "0123456789", "the failure does not replace the stored response")
  }

  @Test(arguments: [400, 404, 501]) func `other statuses are passed on`(_ status: Int) async throws {
    let fixture = try await Self.fixture(Self.ifError, then: .status(status))
    #expect(await fixture.client.outcome(of: Page.http()).error?.status == status)
  }

  @Test func `request may allow stale-if-error`() async throws {
    let fixture = try await Self.fixture(["Cache-Control": "max-age=60"], then: .failure(.offline))
    #expect(await fixture.client.outcome(of: Page.http()).error?.stage == .transport)
    #expect(try await fixture.client.send(Page.http(headers: ["Cache-Control": "stale-if-error=5"])) == "body")
  }

  @Test(arguments: ["max-age=60, stale-if-error=600, must-revalidate", "no-cache, stale-if-error=600"])
  func `server may forbid stale responses`(_ directives: String) async throws {
    let fixture = try await Self.fixture(["Cache-Control": "\(directives)"], then: .failure(.offline))
    #expect(await fixture.client.outcome(of: Page.http()).error?.code.rawValue == "offline")
  }

  @Test func `stored response replaces a deadline`() async throws {
    for mode in [CacheReadMode.asDeclared, .networkElseCached] {
      let latch = Latch()
      let fixture = try await Self.fixture(Self.ifError, holdingAt: latch)
      let client = fixture.client
      async let answer = client.response(Page.http(), options: .cache(mode))
      await latch.reached()
      fixture.clock.advance(by: .milliseconds(119_950))
      let response = try await answer
      #expect(response.value == "answer 1" && response.origin == .cacheStale)
    }
  }

  @Test func `short deadline still contacts the server`() async throws {
    let fixture = CacheFixture { _, number in .text("answer \(number)") }
    _ = try await fixture.client.send(Page())
    var options = CallOptions.cache(.networkElseCached)
    options.timeouts = Timeouts(total: .milliseconds(5))
    #expect(try await fixture.client.send(Page(), options: options) == "answer 2")
  }

  @Test func `deadline without stored response fails`() async throws {
    let latch = Latch()
    let fixture = try await Self.fixture(["Cache-Control": "max-age=60"], holdingAt: latch)
    let client = fixture.client
    async let outcome = client.outcome(of: Page.http())
    await latch.reached()
    fixture.clock.advance(by: .seconds(120))
    #expect(await outcome.error?.stage == .deadline)
  }

  @Test func `cancellation serves no stored response`() async throws {
    let latch = Latch()
    let fixture = try await Self.fixture(Self.ifError, holdingAt: latch)
    let client = fixture.client
    async let outcome = client.outcome(of: Page.http())
    await latch.reached()
    client.cancelAll()
    #expect(await outcome.error?.stage == .cancelled)
  }
}
