import Errand
import ErrandTesting
import Testing

/// Validators and the effects of a 304, tested with a complete client.
struct HTTPValidationTests {
  /// A server that compares its entity tag.
  private static func tagged(
    _ request: HTTPRequest, tag: String = "\"a\"", fields: HTTPFields = HTTPFields()
  ) -> ScriptedAnswer {
    var all: HTTPFields = [.eTag: tag, "Cache-Control": "max-age=60"]
    for field in fields.all { all.replace(field) }
    return request.fields["If-None-Match"] == tag ? .status(304, fields: all) : .page("body", all)
  }

  @Test func `304 renews the stored response`() async throws {
    let fixture = CacheFixture { request, number in Self.tagged(request, fields: ["X-Number": "\(number)"]) }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(61)
    let renewed = try await fixture.client.response(Page.http())
    #expect(fixture.transport.requests[1].fields["If-None-Match"] == "\"a\"")
    #expect(renewed.origin == .revalidated && renewed.status == 200 && renewed.value == "body")
    #expect(renewed.fields["X-Number"] == "2" && renewed.fields[.contentType] == "text/plain; charset=utf-8")
    #expect(renewed.metrics.cache?.status == "Errand; fwd=stale; fwd-status=304; ttl=60")
    #expect(renewed.metrics.attempts == 1)
    fixture.pass(59)
    let fresh = try await fixture.client.response(Page.http())
    #expect(fresh.origin == .cacheFresh && fresh.fields["X-Number"] == "2" && fixture.asked == 2)
  }

  @Test func `304 keeps the stored length`() async throws {
    let fixture = CacheFixture { request, _ in
      request.fields.contains("If-None-Match")
        ? .status(304, fields: [.eTag: "\"a\"", .contentLength: "0", .contentType: "x/y", .contentEncoding: "br"])
        : .page("body", [.eTag: "\"a\"", .contentLength: "4", "Cache-Control": "no-cache"])
    }
    _ = try await fixture.client.send(Page.http())
    let renewed = try await fixture.client.response(Page.http())
    #expect(renewed.origin == .revalidated && renewed.value == "body")
    #expect(renewed.fields[.contentLength] == "4" && renewed.fields[.contentEncoding] == nil)
    #expect(renewed.fields[.contentType] == "text/plain; charset=utf-8")
  }

  @Test func `Last-Modified is validated`() async throws {
    let changed = "Tue, 14 Nov 2023 20:00:00 GMT"
    let fixture = CacheFixture { request, number in
      request.fields["If-Modified-Since"] == changed
        ? .status(304) : .page("answer \(number)", ["Last-Modified": "\(changed)", "Cache-Control": "max-age=60"])
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(61)
    let renewed = try await fixture.client.response(Page.http())
    #expect(renewed.origin == .revalidated && renewed.value == "answer 1")
  }

  @Test func `304 renews a declared lifetime`() async throws {
    let fixture = CacheFixture { request, _ in Self.tagged(request, fields: ["Cache-Control": "no-cache"]) }
    _ = try await fixture.client.send(Page())
    fixture.pass(61)
    #expect(try await fixture.client.response(Page()).origin == .revalidated)
    fixture.pass(59)
    #expect(try await fixture.client.response(Page()).origin == .cacheFresh)
  }

  @Test func `unrelated 304 is not used`() async throws {
    let fixture = CacheFixture { request, number in
      request.fields.contains("If-None-Match")
        ? .status(304, fields: [.eTag: "\"other\""])
        : .page("answer \(number)", [.eTag: "\"a\"", "Cache-Control": "max-age=60"])
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(61)
    let whole = try await fixture.client.response(Page.http())
    #expect(whole.value == "answer 3" && whole.status == 200 && whole.origin == .network)
    #expect(whole.metrics.attempts == 2)
    #expect(await fixture.stored(.http()) == "answer 3")
  }

  @Test func `second request keeps added fields`() async throws {
    let fixture = CacheFixture { request, number in
      request.fields.contains("If-None-Match")
        ? .status(304, fields: [.eTag: "\"other\""]) : .page("answer \(number)", [.eTag: "\"a\""])
    }
    _ = try await fixture.client.send(Page())
    _ = try await fixture.client.send(Page(), options: .cache(.revalidating))
    #expect(fixture.transport.requests.map { $0.fields[.cacheControl] } == [nil, "max-age=0", "max-age=0"])
  }

  @Test func `new response replaces the entry`() async throws {
    let fixture = CacheFixture { request, number in Self.tagged(request, tag: "\"\(number)\"") }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(61)
    let changed = try await fixture.client.response(Page.http())
    #expect(changed.origin == .network)
    #expect(changed.metrics.cache?.status == "Errand; fwd=stale; fwd-status=200; stored; detail=changed")
    #expect(await fixture.cache.entries().count == 1)
  }

  @Test func `validation of a fresh response was requested`() async throws {
    let fixture = CacheFixture { request, number in
      number == 2 ? .status(304, fields: [.eTag: "\"1\""]) : Self.tagged(request, tag: "\"\(number)\"")
    }
    _ = try await fixture.client.send(Page.http())
    for text in ["fwd-status=304; ttl=60", "fwd-status=200; stored; detail=changed"] {
      let report = try await fixture.client.response(Page.http(), options: .cache(.revalidating)).metrics.cache
      #expect(report?.status == "Errand; fwd=request; \(text)" && report?.miss == nil)
    }
  }

  @Test func `caller's condition gets a local 304`() async throws {
    let fixture = CacheFixture { request, _ in Self.tagged(request) }
    _ = try await fixture.client.send(Page.http())
    var page = Page.http(headers: ["If-None-Match": "W/\"a\", \"b\""])
    page.statusRule = .any
    let answer = try await fixture.client.response(page)
    #expect(answer.status == 304 && answer.value.isEmpty && answer.origin == .cacheFresh && fixture.asked == 1)
    #expect(answer.fields[.eTag] == "\"a\"" && answer.fields[.contentType] == nil)
    page.headers = ["If-None-Match": "\"b\""]
    let whole = try await fixture.client.response(page)
    #expect(whole.status == 200 && whole.value == "body" && fixture.asked == 1)
  }

  @Test func `caller's condition is sent unchanged`() async throws {
    let fixture = CacheFixture { request, _ in Self.tagged(request) }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(61)
    let page = Page(
      cache: .http, headers: ["If-None-Match": "\"a\""], statusRule: .any)
    let answer = try await fixture.client.response(page)
    #expect(answer.status == 304 && answer.origin == .network)
    #expect(fixture.transport.requests[1].fields.values(of: "If-None-Match") == ["\"a\""])
  }

  @Test func `unstored response to a caller's condition removes the entry`() async throws {
    let fixture = CacheFixture { _, number in
      .page(
        "answer \(number)", [.eTag: "\"\(number)\"", "Cache-Control": number == 1 ? "max-age=60" : "no-store"])
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(61)
    #expect(try await fixture.client.send(Page.http(headers: ["If-None-Match": "\"0\""])) == "answer 2")
    #expect(await fixture.stored(.http()) == nil)
  }

  @Test func `server error is passed on`() async throws {
    let fixture = CacheFixture { _, number in
      number == 1 ? .page("body", [.eTag: "\"a\"", "Cache-Control": "max-age=60"]) : .status(500)
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(61)
    #expect(await fixture.client.outcome(of: Page.http()).error?.status == 500)
    #expect(await fixture.stored(.http()) == "body", "a server error keeps the entry")
  }

  @Test(arguments: [401, 403, 408, 429])
  func `client error keeps the entry`(_ status: Int) async throws {
    let fixture = CacheFixture { _, number in number == 1 ? .page("body", [.eTag: "\"a\""]) : .status(status) }
    _ = try await fixture.client.send(Page())
    #expect(await fixture.client.outcome(of: Page(), options: .cache(.revalidating)).error?.status == status)
    #expect(await fixture.stored() == "body")
  }

  @Test(arguments: [401, 412, 429])
  func `rejection with max-age keeps the entry`(_ status: Int) async throws {
    let fixture = CacheFixture { _, number in
      number == 2
        ? .status(status, fields: ["Cache-Control": "max-age=600"])
        : .page("answer \(number)", [.eTag: "\"\(number)\"", "Cache-Control": "max-age=60"])
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(61)
    #expect(await fixture.client.outcome(of: Page.http()).error?.status == status)
    #expect(await fixture.stored(.http()) == "answer 1")
    #expect(try await fixture.client.send(Page.http()) == "answer 3")
  }

  @Test(arguments: [404, 410])
  func `gone response removes the entry`(_ status: Int) async throws {
    let fixture = CacheFixture { _, number in number == 1 ? .page("body", [.eTag: "\"a\""]) : .status(status) }
    _ = try await fixture.client.send(Page())
    #expect(await fixture.client.outcome(of: Page(), options: .cache(.revalidating)).error?.status == status)
    #expect(await fixture.miss() == .missing)
  }

  @Test func `unexpected 304 is rejected`() async throws {
    let fixture = CacheFixture { _, _ in .status(304, fields: [.eTag: "\"a\""]) }
    #expect(await fixture.client.outcome(of: Page.http()).error?.code == .status)
    #expect(await fixture.cache.entries().isEmpty)
  }
}
