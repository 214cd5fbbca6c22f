import Errand
import ErrandCore
import ErrandTesting
import Testing

/// `Vary`, HEAD and ranges, tested with a complete client.
struct HTTPVariantTests {
  @Test func `variants are stored separately`() async throws {
    let fixture = CacheFixture { request, number in
      .page(
        "\(request.fields["Accept-Language"] ?? "-") \(number)",
        ["Vary": "Accept-Language", "Cache-Control": "max-age=60"])
    }
    func page(_ language: String) -> Page { .http(headers: ["Accept-Language": .text(language)]) }
    #expect(try await fixture.client.send(page("de")) == "de 1")
    #expect(try await fixture.client.send(page("en")) == "en 2")
    #expect(try await fixture.client.send(page("de")) == "de 1")
    #expect(try await fixture.client.send(page("en")) == "en 2")
    #expect(try await fixture.client.send(Page.http()) == "- 3")
    #expect(try await fixture.client.send(Page.http()) == "- 3")
    #expect(await fixture.cache.entries().count == 3)
    fixture.cache.removeAll(host: "API.example.com")
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test func `each variant is validated by its tag`() async throws {
    let fixture = CacheFixture { request, _ in
      let language = request.fields["Accept-Language"] ?? "-"
      let tag = "\"\(language)\""
      return request.fields["If-None-Match"] == tag
        ? .status(304, fields: [.eTag: tag])
        : .page(language, [.eTag: tag, "Vary": "Accept-Language", "Cache-Control": "max-age=60"])
    }
    func page(_ language: String) -> Page { .http(headers: ["Accept-Language": .text(language)]) }
    for language in ["de", "en"] { _ = try await fixture.client.send(page(language)) }
    fixture.pass(61)
    for language in ["de", "en"] {
      let renewed = try await fixture.client.response(page(language))
      #expect(renewed.value == language && renewed.origin == .revalidated)
    }
  }

  /// Some servers send `Vary: Accept-Encoding` only with bodies that are long enough to be compressed. Both responses
  /// then match the same request.
  @Test(
    arguments: [
      (.lifetime(.seconds(600)), .status(404)), (.http, .page("last", ["Cache-Control": "no-store"])),
      (.http, .status(304, fields: [.eTag: "\"2\"", "Cache-Control": "no-store"])),
    ] as [(CachePolicy, ScriptedAnswer)])
  func `removed response reveals no older one`(_ policy: CachePolicy, _ last: ScriptedAnswer) async throws {
    let fixture = CacheFixture { _, number in
      switch number {
      case 1: .page("older", [.eTag: "\"1\"", "Cache-Control": "max-age=600"])
      case 2: .page("newer", [.eTag: "\"2\"", "Cache-Control": "max-age=60", "Vary": "Accept-Encoding"])
      default: last
      }
    }
    let page = Page(cache: policy)
    _ = try await fixture.client.send(page)
    fixture.pass(1)
    #expect(try await fixture.client.send(page, options: .cache(.ignoringCache)) == "newer")
    _ = await fixture.client.outcome(of: page, options: .cache(.revalidating))
    #expect(await fixture.stored(page) == nil && fixture.asked == 3)
  }

  @Test(arguments: ["*", "Range", "Accept, *"])
  func `incomparable Vary is not stored`(_ vary: String) async throws {
    let fixture = CacheFixture { _, number in
      .page("answer \(number)", ["Vary": "\(vary)", "Cache-Control": "max-age=60"])
    }
    _ = try await fixture.client.send(Page.http())
    #expect(await fixture.cache.entries().isEmpty)
    #expect(try await fixture.client.send(Page.http()) == "answer 2")
    _ = try await fixture.client.send(Page())
    #expect(await fixture.stored() == "answer 3", "a declared lifetime ignores Vary")
  }

  @Test(arguments: ["X-Tenant", "Accept, x-tenant"])
  func `field added below prevents storing`(_ vary: String) async throws {
    let fixture = CacheFixture(change: {
      $0.interceptors.exchanges = [Signing { $0.fields.replace(HTTPField("X-Tenant", "north")) }]
    }) { _, number in .page("answer \(number)", ["Vary": "\(vary)", "Cache-Control": "max-age=60"]) }
    _ = try await fixture.client.send(Page.http())
    #expect(await fixture.cache.entries().isEmpty)
    #expect(try await fixture.client.send(Page.http()) == "answer 2")
    let asked = Page.http(headers: ["X-Tenant": "north"])
    _ = try await fixture.client.send(asked)
    #expect(await fixture.stored(asked) == "answer 3", "the request already has the field")
    _ = try await fixture.client.send(Page())
    #expect(await fixture.stored() == "answer 4", "a declared lifetime ignores Vary")
  }

  @Test func `other Vary fields are stored`() async throws {
    let fixture = CacheFixture(change: {
      $0.interceptors.exchanges = [Signing { $0.fields.replace(HTTPField("X-Tenant", "north")) }]
      $0.credentials = FixedCredential(.bearer("a"), account: "ada")
    }) { _, number in
      .page("answer \(number)", ["Vary": "Accept, Authorization, Cookie", "Cache-Control": "max-age=60"])
    }
    _ = try await fixture.client.send(Page.http())
    #expect(await fixture.stored(.http()) == "answer 1")
  }

  @Test func `HEAD is served from GET`() async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
    _ = try await fixture.client.send(Page.http())
    let head = try await fixture.client.response(Page.http(method: .head))
    #expect(head.origin == .cacheFresh && head.value.isEmpty && head.status == 200 && fixture.asked == 1)
    #expect(fixture.cache.statistics.bytesSaved == 0)
  }

  @Test func `GET is never served from HEAD`() async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
    _ = try await fixture.client.send(Page.http(method: .head))
    #expect(try await fixture.client.response(Page.http(method: .head)).origin == .cacheFresh)
    #expect(try await fixture.client.send(Page.http()) == "answer 2")
  }

  @Test(arguments: [("\"a\"", true), ("\"b\"", false)], [CacheReadMode.asDeclared, .ignoringCache])
  func `HEAD freshens or removes GET`(_ tag: (text: String, holds: Bool), _ mode: CacheReadMode) async throws {
    let fixture = CacheFixture { request, _ in
      .page("body", [.eTag: request.method == .head ? "\(tag.text)" : "\"a\"", "Cache-Control": "max-age=60"])
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(61)
    _ = try await fixture.client.send(Page.http(method: .head), options: .cache(mode))
    let outcome = await fixture.client.outcome(of: Page.http(), options: .cache(.cacheOnly))
    if tag.holds {
      #expect(outcome.value == "body" && outcome.origin == .cacheFresh)
    } else {
      #expect(outcome.error?.cacheMiss == .missing)
    }
  }

  @Test func `HEAD removes GET behind newer HEAD`() async throws {
    let fixture = CacheFixture { request, number in
      .page("body", [.eTag: number < 3 ? "\"a\"" : "\"b\"", "Cache-Control": "max-age=60"])
    }
    _ = try await fixture.client.send(Page.http())
    fixture.pass(1)
    _ = try await fixture.client.send(Page.http(method: .head), options: .cache(.ignoringCache))
    fixture.pass(61)
    _ = try await fixture.client.send(Page.http(method: .head))
    #expect(await fixture.stored(.http()) == nil && fixture.asked == 3)
  }

  @Test func `late HEAD keeps newer GET`() async throws {
    let latch = Latch()
    let fixture = CacheFixture { request, _ in
      if request.method == .head { try await latch.wait() }
      return .page("body", [.eTag: request.method == .head ? "\"a\"" : "\"b\"", "Cache-Control": "max-age=60"])
    }
    let head = Task {
      await fixture.client.outcome(of: Page.http(method: .head), options: .cache(.ignoringCache))
    }
    await latch.reached()
    fixture.pass(1)
    _ = try await fixture.client.send(Page.http())
    latch.open()
    #expect(await head.value.error == nil)
    #expect(await fixture.stored(.http()) == "body")
  }

  @Test func `HEAD keeps GET for other fields`() async throws {
    let fixture = CacheFixture { request, number in
      .page("body", [.eTag: "\"\(number)\"", "Cache-Control": "max-age=60", "Vary": "Accept-Language"])
    }
    let german = Page.http(headers: ["Accept-Language": "de"])
    _ = try await fixture.client.send(german)
    _ = try await fixture.client.send(Page.http(method: .head), options: .cache(.ignoringCache))
    #expect(await fixture.stored(german) == "body")
  }

  @Test(arguments: [CachePolicy.http, .lifetime(.seconds(60))])
  func `ranges are cut from the complete response`(_ policy: CachePolicy) async throws {
    let fixture = CacheFixture { request, number in
      request.fields.contains("Range")
        ? .page("an", ["Content-Range": "bytes 0-1/8", "Cache-Control": "max-age=60"], status: 206)
        : .page("answer \(number)", ["Cache-Control": "max-age=60", "Accept-Ranges": "bytes"])
    }
    let part = Page(cache: policy, headers: ["Range": "bytes=0-1"])
    let whole = Page(cache: policy)
    #expect(try await fixture.client.send(part) == "an")
    #expect(await fixture.cache.entries().isEmpty)
    #expect(try await fixture.client.send(whole) == "answer 2")
    let again = try await fixture.client.response(part)
    #expect(again.value == "an" && again.status == 206 && again.origin == .cacheFresh)
    #expect(again.fields["Content-Range"] == "bytes 0-1/8" && again.fields[.contentLength] == "2")
    #expect(again.fields["Accept-Ranges"] == "bytes")
    let end = try await fixture.client.response(Page(cache: policy, headers: ["Range": "bytes=-1"]))
    #expect(end.value == "2" && end.fields["Content-Range"] == "bytes 7-7/8")
    #expect(fixture.asked == 2)
    // The range is outside the body, so the server must respond.
    #expect(try await fixture.client.response(Page(cache: policy, headers: ["Range": "bytes=8-"])).origin == .network)
    #expect(try await fixture.client.send(whole) == "answer 2")
  }

  @Test(arguments: ["bytes=8-", "bytes=8-9", "bytes=-0"]) func `range outside a stored body is 416 offline`(
    _ range: String
  ) async throws {
    let fixture = CacheFixture { _, number in
      .page("answer \(number)", ["Cache-Control": "max-age=60", .eTag: "\"a\"", "Content-Language": "en"])
    }
    _ = try await fixture.client.send(Page.http())
    let onlyStored = Page(
      cache: .http, headers: ["Range": .text(range), "Cache-Control": "only-if-cached"], statusRule: .any)
    let asked = Page(cache: .http, headers: ["Range": .text(range)], statusRule: .any)
    for (page, mode) in [(onlyStored, CacheReadMode.asDeclared), (asked, .cacheOnly), (asked, .cacheOnlyAtAnyAge)] {
      let response = try await fixture.client.response(page, options: .cache(mode))
      #expect(response.status == 416 && response.value.isEmpty && response.origin == .cacheFresh)
      #expect(response.fields["Content-Range"] == "bytes */8" && response.fields[.contentLength] == "0")
      #expect(response.fields[.eTag] == "\"a\"" && response.fields["Content-Language"] == nil)
    }
    #expect(fixture.asked == 1)
  }

  @Test(arguments: ["bytes=0-1,3-4", "bytes=0-1, 0-1", "lines=0-1", "bytes=x"])
  func `several ranges go to the server`(_ range: String) async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
    _ = try await fixture.client.send(Page.http())
    let page = Page.http(headers: ["Range": .text(range)])
    #expect(try await fixture.client.response(page).origin == .network)
    #expect(await fixture.client.outcome(of: page, options: .cache(.cacheOnly)).error?.cacheMiss == .needsServer)
    #expect(fixture.asked == 2)
  }

  @Test func `unrequested 206 is not stored`() async throws {
    let fixture = CacheFixture { _, _ in
      .page("an", ["Content-Range": "bytes 0-1/8", "Cache-Control": "max-age=60"], status: 206)
    }
    _ = try await fixture.client.send(Page.http())
    _ = try await fixture.client.send(Page())
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test(arguments: [CachePolicy.http, .lifetime(.seconds(60))])
  func `wrong body length is not stored`(_ policy: CachePolicy) async throws {
    let fixture = CacheFixture { _, _ in .page("body", [.contentLength: "5", "Cache-Control": "max-age=60"]) }
    _ = try await fixture.client.send(Page(cache: policy))
    #expect(await fixture.cache.entries().isEmpty)
  }
}
