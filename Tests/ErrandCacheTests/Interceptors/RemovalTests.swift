import Errand
import ErrandCore
@testable import ErrandCache
import ErrandTesting
import Foundation
import Testing

/// Removing and listing entries, and storing a response for another request.
struct RemovalTests {
  private static func fixture() -> CacheFixture { CacheFixture { _, number in .text("answer \(number)") } }

  @Test func `tag removes its entries`() async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page(name: "a"), options: .tag("feed"))
    _ = try await fixture.client.send(Page(name: "b"))
    fixture.cache.removeAll(tag: "feed")
    #expect(await fixture.miss(Page(name: "a")) == .missing)
    #expect(await fixture.stored(Page(name: "b")) == "answer 2")
  }

  @Test(arguments: [
    ("https://b\u{fc}cher.example", "B\u{fc}cher.example"), ("https://[::1]:8443", "::1"), ("https://[::1]", "[::1]"),
    ("https://127.0.0.1:8443", "127.0.0.1"),
  ])
  func `host is removed in every form`(_ base: String, _ host: String) async throws {
    let fixture = CacheFixture(change: { $0.servers.current.baseURL = base }) { _, _ in .text("answer") }
    _ = try await fixture.client.send(Page())
    #expect(await fixture.stored() == "answer")
    fixture.cache.removeAll(host: host)
    #expect(await fixture.miss() == .missing)
  }

  @Test func `age removes older entries`() async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page(name: "a"))
    fixture.pass(10)
    _ = try await fixture.client.send(Page(name: "b"))
    fixture.cache.removeAll(olderThan: Date(timeIntervalSince1970: 1_700_000_005))
    #expect(await fixture.miss(Page(name: "a")) == .missing)
    #expect(await fixture.stored(Page(name: "b")) == "answer 2")
  }

  @Test func `clearing removes everything`() async throws {
    let fixture = Self.fixture()
    for policy in [CachePolicy.lifetime(.seconds(60)), .httpElse(.seconds(60))] {
      _ = try await fixture.client.send(Page(cache: policy))
    }
    #expect(await fixture.cache.size().entries == 2)
    fixture.cache.removeAll()
    #expect(await fixture.cache.size().entries == 0)
  }

  @Test func `sum of limits is clamped`() async {
    let folders = CacheFolders(folder: URL(filePath: "/a"), filters: [], known: [URL(filePath: "/b")]) { _ in
      MemoryStore(limit: .max)
    }
    #expect(await ResponseCache(stores: folders).size().limit == Int.max)
  }

  @Test func `listing describes the entries`() async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page(arguments: ["token": "secret"]), options: .tag("feed"))
    let entry = try #require(await fixture.cache.entries().first)
    #expect(entry.head.label.method == "GET" && entry.head.label.host == "api.example.com")
    #expect(entry.head.label.tag == "feed" && !entry.head.label.url.contains("secret"))
    #expect(entry.bodyLength == "answer 1".utf8.count)
  }

  // MARK: - For another request

  @Test(arguments: [HTTPMethod.post, .put], [CachePolicy.none, .http])
  func `response is stored for another request`(_ method: HTTPMethod, _ own: CachePolicy) async throws {
    let fixture = Self.fixture()
    let page = Page(arguments: ["id": 7])
    _ = try await fixture.client.send(page)
    let change = try await fixture.client.response(
      Page(name: "page?id=7", method: method, cache: own.stored(as: [page]), body: .text("new")))
    #expect(change.value == "answer 2" && change.origin == .network)
    #expect(await fixture.stored(page) == "answer 2")
    #expect(try await fixture.client.response(page).origin == .cacheFresh)
  }

  @Test(arguments: [CachePolicy.lifetime(.seconds(60)), .http])
  func `response is stored for several requests`(_ own: CachePolicy) async throws {
    let fixture = CacheFixture { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
    let pages = [Page(name: "a"), Page(name: "b")]
    let search = Page(name: "search", cache: own.stored(as: .own.and(pages[0], pages[1])))
    #expect(try await fixture.client.response(search).value == "answer 1")
    for page in pages + [Page(name: "search", cache: own)] { #expect(await fixture.stored(page) == "answer 1") }
    #expect(await fixture.cache.entries().count == 3)
  }

  @Test func `own invalidation keeps every alias`() async throws {
    let fixture = Self.fixture()
    let pages = [Page(), Page(name: "other")]
    for page in pages { _ = try await fixture.client.send(page) }
    _ = try await fixture.client.send(Page(method: .put, cache: .none.stored(as: [pages[0], pages[1]])))
    for page in pages { #expect(await fixture.stored(page) == "answer 3") }
  }

  @Test func `empty list of targets stores nothing`() async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page(cache: .lifetime(.seconds(60)).stored(as: [])))
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test func `own success keeps the alias`() async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page())
    _ = try await fixture.client.send(Page(method: .put, cache: .none.stored(as: [Page()])))
    #expect(await fixture.stored() == "answer 2", "the same URL")
  }

  @Test func `clearing during the call prevents the alias`() async throws {
    let latch = Latch()
    let fixture = CacheFixture { _, number in
      try await latch.wait()
      return .text("answer \(number)")
    }
    let client = fixture.client
    async let value = client.send(Page(method: .put, cache: .none.stored(as: [Page()])))
    await latch.reached()
    fixture.cache.removeAll()
    latch.open()
    _ = try await value
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test func `removal by age prevents the alias`() async throws {
    let (store, latch) = (SlowStore(MemoryStore()), Latch())
    let fixture = CacheFixture(store: store) { _, number in
      store.holdNextSalt(at: latch)
      return .text("answer \(number)")
    }
    let client = fixture.client
    async let value = client.send(Page(method: .put, cache: .none.stored(as: [Page()])))
    await latch.reached()
    fixture.pass(10)
    fixture.cache.removeAll(olderThan: Date(timeIntervalSince1970: 1_700_000_005))
    latch.open()
    #expect(try await value == "answer 1")
    #expect(await fixture.cache.entries().isEmpty, "it was received before, and would have been stored after")
  }

  @Test func `rejected response stores no alias`() async throws {
    let fixture = CacheFixture { _, _ in .text("no", status: 422) }
    _ = await fixture.client.outcome(of: Page(method: .put, cache: .none.stored(as: [Page()])))
    _ = try await fixture.client.send(
      Page(method: .put, cache: .none.stored(as: [Page(cache: .none)]), statusRule: .any))
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test(arguments: [CachePolicy.none, .lifetime(.seconds(60))], [200, 404])
  func `followed redirect stores no alias`(_ own: CachePolicy, _ status: Int) async throws {
    let fixture = CacheFixture { request, number in
      request.method == .put ? .redirect(to: "/page", status: 303) : .text("answer \(number)", status: status)
    }
    let outcome = await fixture.client.outcome(of: Page(method: .put, cache: own.stored(as: [Page()])))
    #expect(outcome.error?.code == (status == 200 ? nil : .status))
    #expect(await fixture.cache.entries().map(\.head.answer.status) == (status == 200 ? [200] : []))
    #expect(await fixture.stored() == (status == 200 ? "answer 2" : nil))
  }

  @Test(
    arguments: [CachePolicy.lifetime(.seconds(60)), .http], [("de", "de"), ("DE", "de"), ("de", "en"), ("de", "")])
  func `alias has the fields in Vary`(_ policy: CachePolicy, _ languages: (sent: String, other: String)) async throws {
    let fixture = CacheFixture { request, _ in
      .page(
        request.fields["Accept-Language"] ?? "none",
        ["Cache-Control": "max-age=60", "Vary": "Accept-Language, Authorization, Cookie"])
    }
    func page(_ method: HTTPMethod, _ policy: CachePolicy, _ language: String, _ targets: CacheTargets = .own) -> Page {
      let headers: RequestHeaders = language.isEmpty ? [:] : ["Accept-Language": .text(language)]
      return Page(method: method, cache: policy.stored(as: targets), headers: headers)
    }
    let other = page(.get, policy, languages.other)
    #expect(try await fixture.client.send(page(.put, .none, languages.sent, [other])) == languages.sent)
    let isStored = languages.sent.lowercased() == languages.other
    #expect(await fixture.stored(other) == (isStored ? languages.sent : nil))
  }

  @Test func `alias uses the other request's folder`() async throws {
    let cache = ResponseCache.inTwoFolders()
    let fixture = CacheFixture(change: { $0.cache.store = .own(cache) }) { _, number in .text("answer \(number)") }
    _ = try await fixture.client.send(Page(name: "orders", method: .put, cache: .none.stored(as: [Page()])))
    #expect(await fixture.stored() == "answer 1")
  }

  // MARK: - Parts of the key

  @Test func `excluded body arguments share a response`() async throws {
    let fixture = Self.fixture()
    let policy = CachePolicy.lifetime(.seconds(60)).keyed(by: CacheKeyRule(leavingOut: ["time"]))
    func page(_ time: Int, _ id: Int) -> Page {
      Page(method: .post, cache: policy, arguments: ["time": time, "id": id])
    }
    _ = try await fixture.client.send(page(1, 1))
    #expect(try await fixture.client.send(page(2, 1)) == "answer 1")
    #expect(try await fixture.client.send(page(2, 2)) == "answer 2")
    #expect(
      fixture.transport.requests.first?.body?.data.map { String(decoding: $0, as: UTF8.self) }?.contains("time=1")
        == true)
  }

  @Test func `selected headers separate responses`() async throws {
    let fixture = Self.fixture()
    let policy = CachePolicy.lifetime(.seconds(60)).keyed(by: CacheKeyRule(headers: ["x-region"]))
    func page(_ region: String, _ other: String) -> Page {
      Page(cache: policy, headers: ["X-Region": .text(region), "X-Other": .text(other)])
    }
    _ = try await fixture.client.send(page("a", "1"))
    #expect(try await fixture.client.send(page("a", "2")) == "answer 1")
    #expect(try await fixture.client.send(page("b", "1")) == "answer 2")
  }
}
