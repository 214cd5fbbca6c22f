import Errand
import ErrandTesting
import Testing

/// The policy `http`, tested with a complete client: what is fresh, and for how long.
struct HTTPFreshnessTests {
  @Test func `max-age limits freshness`() async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(59)
    let hit = try await fixture.client.response(Page.http())
    #expect(hit.value == "answer 1" && hit.origin == .cacheFresh && hit.fields["Age"] == "59")
    fixture.pass(2)
    #expect(try await fixture.client.send(Page.http()) == "answer 2")
    #expect(fixture.transport.requests[1].fields["If-None-Match"] == nil)
  }

  @Test func `upstream Age counts`() async throws {
    let fixture = CacheFixture { _, number in
      .page("answer \(number)", ["Cache-Control": "max-age=60", "Age": "50"])
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(9)
    #expect(try await fixture.client.response(Page.http()).fields["Age"] == "59")
    fixture.pass(1)
    #expect(try await fixture.client.send(Page.http()) == "answer 2")
  }

  /// Holds an exchange before it is sent.
  private struct Holding: Interceptor {
    let latch: Latch

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      await latch.waitStubbornly()
      return try await next(request)
    }
  }

  @Test(arguments: [true, false]) func `age counts from the request`(_ holdsBefore: Bool) async throws {
    let latch = Latch()
    let fixture = CacheFixture(change: {
      if holdsBefore { $0.interceptors.exchanges = [Holding(latch: latch)] }
    }) { _, _ in
      if !holdsBefore { await latch.waitStubbornly() }
      return .page("answer", ["Cache-Control": "max-age=60"])
    }
    let client = fixture.client
    async let value = client.send(Page.http())
    await latch.reached()
    fixture.pass(30)
    latch.open()
    _ = try await value
    #expect(try await client.response(Page.http()).fields["Age"] == (holdsBefore ? "0" : "30"))
  }

  @Test func `Expires is relative to Date`() async throws {
    let fixture = CacheFixture { _, number in
      .page(
        "answer \(number)",
        ["Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Expires": "Tue, 14 Nov 2023 22:14:20 GMT"])
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(59)
    #expect(try await fixture.client.send(Page.http()) == "answer 1")
    fixture.pass(2)
    #expect(try await fixture.client.send(Page.http()) == "answer 2")
  }

  @Test func `heuristic lifetime is a tenth`() async throws {
    let fixture = CacheFixture { _, number in
      .page(
        "answer \(number)",
        ["Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Last-Modified": "Tue, 14 Nov 2023 22:03:20 GMT"])
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(59)
    #expect(try await fixture.client.send(Page.http()) == "answer 1")
    fixture.pass(2)
    #expect(try await fixture.client.send(Page.http()) == "answer 2")
    #expect(fixture.transport.requests[1].fields["If-Modified-Since"] == "Tue, 14 Nov 2023 22:03:20 GMT")
  }

  @Test func `no-store is not stored`() async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "no-store, max-age=60"]) }
    _ = try await fixture.client.send(Page.http())
    #expect(await fixture.cache.entries().isEmpty)
    #expect(try await fixture.client.send(Page.http()) == "answer 2")
  }

  @Test func `request may forbid storing`() async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
    _ = try await fixture.client.send(Page.http(headers: ["Cache-Control": "no-store"]))
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test func `no-cache is validated each time`() async throws {
    let fixture = CacheFixture { request, _ in
      request.fields["If-None-Match"] == "\"a\""
        ? .status(304, fields: [.eTag: "\"a\""])
        : .page("body", [.eTag: "\"a\"", "Cache-Control": "no-cache, max-age=60"])
    }
    _ = try await fixture.client.send(Page.http())
    for _ in 1...2 {
      let again = try await fixture.client.response(Page.http())
      #expect(again.value == "body" && again.origin == .revalidated && again.status == 200)
    }
    #expect(fixture.asked == 3)
  }

  @Test(arguments: ["no-cache", "max-age=0", "max-age=5", "min-fresh=55"])
  func `request may require fresher responses`(_ directive: String) async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(10)
    let headers: RequestHeaders = ["Cache-Control": .text(directive)]
    #expect(try await fixture.client.send(Page.http(headers: headers)) == "answer 2")
  }

  @Test func `max-stale accepts expired responses`() async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(70)
    let stale = try await fixture.client.response(Page.http(headers: ["Cache-Control": "max-stale=30"]))
    #expect(stale.value == "answer 1" && stale.origin == .cacheStale)
    #expect(stale.metrics.cache?.status == "Errand; hit; ttl=-10; detail=max-stale")
    fixture.pass(30)
    #expect(try await fixture.client.send(Page.http(headers: ["Cache-Control": "max-stale=30"])) == "answer 2")
  }

  @Test func `immutable is not validated`() async throws {
    let fixture = CacheFixture { request, number in
      .page(
        "answer \(number)",
        ["Cache-Control": request.url.path == "/fixed" ? "max-age=60, immutable" : "max-age=60", .eTag: "\"a\""])
    }
    for page in [Page.http("fixed"), .http("free")] { _ = try await fixture.client.send(page) }
    let fixed = try await fixture.client.response(Page.http("fixed"), options: .cache(.revalidating))
    #expect(fixed.value == "answer 1" && fixed.origin == .cacheFresh)
    #expect(try await fixture.client.send(Page.http("free"), options: .cache(.revalidating)) == "answer 3")
    fixture.pass(61)
    #expect(try await fixture.client.send(Page.http("fixed"), options: .cache(.revalidating)) == "answer 4")
  }

  @Test func `only-if-cached never contacts the server`() async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
    let page = Page(
      cache: .http, headers: ["Cache-Control": "only-if-cached"], statusRule: .any)
    let missing = try await fixture.client.response(page)
    #expect(missing.status == 504 && missing.origin == .local && missing.value.isEmpty && fixture.asked == 0)
    #expect(missing.metrics.cache?.miss == .missing)
    _ = try await fixture.client.send(Page.http())
    #expect(try await fixture.client.response(page).value == "answer 1")
    fixture.pass(61)
    let expired = try await fixture.client.response(page)
    #expect(expired.status == 504 && expired.metrics.cache?.miss == .expired && fixture.asked == 1)
    var plain = page
    plain.statusRule = .inherited
    #expect(await fixture.client.outcome(of: plain).error?.code == .status)
  }

  @Test func `informational responses are ignored`() async throws {
    let fixture = CacheFixture { _, number in
      var answer = ScriptedAnswer.page("answer \(number)", ["Cache-Control": "max-age=60"])
      answer.informational = [ResponseHead(status: 103, fields: ["Link": "</a>", "Cache-Control": "no-store"])]
      return answer
    }
    _ = try await fixture.client.send(Page.http())
    let hit = try await fixture.client.response(Page.http())
    #expect(hit.value == "answer 1" && hit.fields["Link"] == nil && fixture.asked == 1)
  }

  @Test func `declared lifetime fills missing freshness`() async throws {
    let fixture = CacheFixture { request, number in
      request.url.path == "/silent"
        ? .text("answer \(number)") : .page("answer \(number)", ["Cache-Control": "max-age=10"])
    }
    let silent = Page(name: "silent", cache: .httpElse(.seconds(60)))
    let spoken = Page(name: "spoken", cache: .httpElse(.seconds(60)))
    for page in [silent, spoken] { _ = try await fixture.client.send(page) }
    fixture.pass(11)
    #expect(try await fixture.client.send(silent) == "answer 1")
    #expect(try await fixture.client.send(spoken) == "answer 3")
    fixture.pass(50)
    #expect(try await fixture.client.send(silent) == "answer 4")
  }

  @Test func `hit sets no cookies`() async throws {
    let fixture = CacheFixture { _, _ in .page("body", ["Cache-Control": "max-age=60", "Set-Cookie": "a=b"]) }
    #expect(try await fixture.client.response(Page.http()).fields["Set-Cookie"] == "a=b")
    #expect(try await fixture.client.response(Page.http()).fields["Set-Cookie"] == nil)
  }
}
