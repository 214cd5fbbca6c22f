import Errand
import ErrandTesting
import Testing

/// Each redirect is stored separately, with its own freshness.
struct CachedRedirectTests {
  private static func redirect(_ control: String?, _ status: Int = 302, to: String = "/b") -> ScriptedAnswer {
    var answer = ScriptedAnswer.redirect(to: to, status: status)
    if let control { answer.head.fields.replace(HTTPField(.cacheControl, control)) }
    return answer
  }

  @Test(arguments: [
    (302, Optional("max-age=60"), true), (302, nil, false), (307, "max-age=60", true), (301, "max-age=60", true),
    (308, nil, false), (303, "no-store", false),
  ])
  func `redirect is stored by server directives`(_ status: Int, _ control: String?, _ isKept: Bool) async throws {
    let fixture = CacheFixture { request, number in
      request.url.path == "/a"
        ? Self.redirect(control, status) : .page("answer \(number)", ["Cache-Control": "max-age=600"])
    }
    _ = try await fixture.client.send(Page.http("a"))
    let again = try await fixture.client.response(Page.http("a"))
    #expect(again.value == "answer 2" && again.raw.url.path == "/b" && again.metrics.redirects == 1)
    #expect(fixture.asked == (isKept ? 2 : 3))
    #expect(try await fixture.client.response(Page.http("b")).origin == .cacheFresh, "the page is stored under its URL")
    fixture.pass(61)
    _ = try await fixture.client.send(Page.http("a"))
    #expect(fixture.transport.requests.last?.url.path == "/a", "the redirect has expired, but not the page")
  }

  @Test func `chain is not stored under its first URL`() async throws {
    let fixture = CacheFixture { request, number in
      request.url.path == "/a" ? Self.redirect("no-store") : .page("answer \(number)", ["Cache-Control": "max-age=600"])
    }
    _ = try await fixture.client.send(Page.http("a"))
    #expect(await fixture.cache.entries().map(\.head.label.url) == ["https://api.example.com/b"])
  }

  @Test func `declared lifetime stores each redirect`() async throws {
    let fixture = CacheFixture { request, number in
      request.url.path == "/a" ? Self.redirect("no-cache") : .text("answer \(number)")
    }
    _ = try await fixture.client.send(Page(name: "a"))
    let again = try await fixture.client.response(Page(name: "a"))
    #expect(again.value == "answer 2" && again.origin == .cacheFresh && fixture.asked == 2)
    #expect(await fixture.stored(Page(name: "a")) == "answer 2")
  }

  @Test func `rejected redirect is not stored`() async throws {
    let fixture = CacheFixture { _, _ in Self.redirect(nil, to: "http://plain.example.com/") }
    let error = await fixture.client.outcome(of: Page(name: "a")).error
    #expect(error?.code == .redirectRefused)
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test(arguments: [404, 410, 403])
  func `stored redirect to an error is retried`(_ status: Int) async throws {
    let fixture = CacheFixture { request, number in
      switch (request.url.path, number) {
      case ("/a", 1): Self.redirect("max-age=600")
      case ("/a", _): Self.redirect("max-age=600", to: "/c")
      case ("/b", 2): .page("answer 2", ["Cache-Control": "no-store"])
      case ("/b", _): .status(status)
      default: .text("moved")
      }
    }
    #expect(try await fixture.client.send(Page.http("a")) == "answer 2")
    #expect(try await fixture.client.send(Page.http("a")) == "moved")
    #expect(fixture.transport.requests.map(\.url.path) == ["/a", "/b", "/b", "/a", "/c"])
    #expect(try await fixture.client.response(Page.http("a")).metrics.attempts == 1, "the new redirect is stored")
  }

  @Test func `stored redirect never repeats the POST`() async throws {
    let fixture = CacheFixture { request, number in
      switch request.url.path {
      case "/orders": Self.redirect(nil, 303, to: "/x")
      case "/x": Self.redirect("no-store", to: "/a")
      case "/a": Self.redirect("max-age=600", to: number == 1 ? "/b" : "/c")
      case "/b": number == 2 ? .page("answer 2", ["Cache-Control": "no-store"]) : .status(404)
      default: .text("moved")
      }
    }
    #expect(try await fixture.client.send(Page.http("a")) == "answer 2")
    #expect(try await fixture.client.send(Page.http("orders", method: .post)) == "moved")
    #expect(fixture.transport.requests.map(\.url.path) == ["/a", "/b", "/orders", "/x", "/b", "/a", "/c"])
  }

  @Test func `POST after a stored redirect is not repeated`() async throws {
    let fixture = CacheFixture { request, _ in
      request.url.path == "/a" ? Self.redirect(nil, 307) : .status(409)
    }
    for _ in 1...2 {
      #expect(await fixture.client.outcome(of: Page(name: "a", method: .post)).error?.status == 409)
    }
    #expect(fixture.transport.requests.map(\.url.path) == ["/a", "/b", "/b"], "the redirect is stored")
  }

  @Test func `fresh network redirect is trusted`() async throws {
    let fixture = CacheFixture { request, _ in
      request.url.path == "/a" ? Self.redirect("max-age=600") : .status(404, fields: ["Cache-Control": "no-store"])
    }
    #expect(await fixture.client.outcome(of: Page.http("a")).error?.status == 404)
    #expect(fixture.asked == 2)
  }

  @Test func `stored error after a fresh redirect is trusted`() async throws {
    let fixture = CacheFixture { request, _ in
      request.url.path == "/a"
        ? Self.redirect("no-store") : .status(404, fields: ["Cache-Control": "max-age=600"])
    }
    for asked in [2, 3] {
      #expect(await fixture.client.outcome(of: Page.http("a")).error?.status == 404)
      #expect(fixture.asked == asked)
    }
  }

  @Test func `validated redirect is trusted`() async throws {
    let fixture = CacheFixture { request, number in
      switch request.url.path {
      case "/a" where request.fields.contains("If-None-Match"): .status(304, fields: [.eTag: "\"a\""])
      case "/a": Self.redirect("public, no-cache").with(.eTag, "\"a\"")
      default: number == 2 ? .page("body", ["Cache-Control": "no-store"]) : .status(404)
      }
    }
    _ = try await fixture.client.send(Page.http("a"))
    #expect(await fixture.client.outcome(of: Page.http("a")).error?.status == 404)
    #expect(fixture.asked == 4)
  }

  @Test func `cache only does not retry redirects`() async throws {
    let fixture = CacheFixture { request, _ in
      request.url.path == "/a"
        ? Self.redirect("max-age=600") : .status(404, fields: ["Cache-Control": "max-age=600"])
    }
    #expect(await fixture.client.outcome(of: Page.http("a")).error?.status == 404)
    #expect(await fixture.client.outcome(of: Page.http("a"), options: .cache(.cacheOnly)).error?.status == 404)
    #expect(fixture.asked == 2)
  }

  @Test func `only-if-cached does not retry redirects`() async throws {
    let fixture = CacheFixture { request, _ in
      request.url.path == "/a"
        ? Self.redirect("max-age=600") : .status(404, fields: ["Cache-Control": "max-age=600"])
    }
    _ = await fixture.client.outcome(of: Page.http("a"))
    let error = await fixture.client.outcome(of: Page.http("a", headers: ["Cache-Control": "only-if-cached"])).error
    #expect(error?.status == 404 && fixture.asked == 2)
  }

  @Test func `cache only misses after a redirect`() async throws {
    let fixture = CacheFixture { request, number in
      request.url.path == "/a" ? Self.redirect("max-age=600") : .page("body", ["Cache-Control": "no-store"])
    }
    _ = try await fixture.client.send(Page.http("a"))
    #expect(await fixture.miss(.http("a")) == .missing)
    #expect(fixture.asked == 2)
  }

  @Test func `host rules apply to each redirect`() async throws {
    let fixture = CacheFixture(change: {
      $0.cache.rules = [HostCacheRule("cdn.example.com", .lifetime(.seconds(60)))]
    }) { request, number in
      request.url.host == "cdn.example.com"
        ? .text("answer \(number)") : Self.redirect(nil, to: "https://cdn.example.com/image")
    }
    for asked in [2, 3] {
      #expect(try await fixture.client.send(Page(name: "a", cache: .inherited)) == "answer 2")
      #expect(fixture.asked == asked)
    }
  }

  @Test func `redirect drops another origin's credential`() async throws {
    let fixture = CacheFixture { request, number in
      request.url.host == "api.example.com"
        ? Self.redirect(nil, to: "https://other.example.com/b")
        : .text("\(request.fields[.authorization] ?? "nobody") \(number)")
    }
    let page = Page(name: "a", headers: ["Authorization": "Bearer one"])
    #expect(try await fixture.client.send(page) == "nobody 2")
  }
}
