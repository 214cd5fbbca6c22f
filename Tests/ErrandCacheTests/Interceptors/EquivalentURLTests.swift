import Errand
@testable import ErrandCache
import ErrandSupport
import ErrandTesting
import TestSupport
import Testing

/// Responses that are served for equivalent URLs (`No-Vary-Search`), tested with a complete client.
struct EquivalentURLTests {
  private static let field = #"params=("utm"), key-order"#

  private static func fixture(
    store: any CacheStore = MemoryStore(), _ field: String = field, more: HTTPFields = HTTPFields(),
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> CacheFixture {
    CacheFixture(store: store, change: change) { request, number in
      var fields: HTTPFields = ["Cache-Control": "max-age=60", .eTag: "\"\(number)\"", "No-Vary-Search": "\(field)"]
      for field in more.all { fields.replace(field) }
      return .page("answer \(number)", fields)
    }
  }

  private static func page(
    _ arguments: Arguments, _ name: String = "page", method: HTTPMethod = .get, policy: CachePolicy = .http,
    headers: RequestHeaders = RequestHeaders()
  ) -> Page {
    Page(name: name, method: method, cache: policy, headers: headers, arguments: arguments)
  }

  @Test func `equivalent URLs share a response`() async throws {
    let fixture = Self.fixture()
    #expect(try await fixture.client.send(Self.page(["a": 1, "utm": "x"])) == "answer 1")
    for arguments in [["utm": "y", "a": 1], ["a": 1], ["a": 1, "utm": "x"]] as [Arguments] {
      let response = try await fixture.client.response(Self.page(arguments))
      #expect(response.value == "answer 1" && response.origin == .cacheFresh)
    }
    #expect(fixture.asked == 1)
    #expect(try await fixture.client.send(Self.page(["a": 2, "utm": "x"])) == "answer 2")
    #expect(try await fixture.client.send(Self.page(["a": 1], "other")) == "answer 3")
    let head = try await fixture.client.response(Self.page(["a": 1, "utm": "z"], method: .head))
    #expect(head.origin == .cacheFresh && head.value.isEmpty)
  }

  @Test(arguments: ["", "params=()", "params", #"params=("other")"#]) func `other fields share nothing`(
    _ field: String
  ) async throws {
    let fixture = Self.fixture(field)
    for arguments in [["a": 1, "utm": "x"], ["a": 1]] as [Arguments] {
      _ = try await fixture.client.send(Self.page(arguments))
    }
    #expect(fixture.asked == 2)
  }

  @Test(arguments: [CachePolicy.lifetime(.seconds(60)), .none])
  func `only HTTP rules share`(_ policy: CachePolicy) async throws {
    let fixture = Self.fixture()
    for arguments in [["a": 1, "utm": "x"], ["a": 1]] as [Arguments] {
      _ = try await fixture.client.send(Self.page(arguments, policy: policy))
    }
    #expect(fixture.asked == 2)
  }

  @Test func `stale response is not shared`() async throws {
    for more in [HTTPFields(), ["Cache-Control": "max-age=60, stale-while-revalidate=600"]] {
      let fixture = Self.fixture(more: more)
      _ = try await fixture.client.send(Self.page(["utm": "x"]))
      fixture.pass(61)
      let response = try await fixture.client.response(Self.page(["utm": "y"]))
      #expect(response.value == "answer 2" && response.origin == .network)
      #expect(fixture.transport.requests.last?.fields["If-None-Match"] == nil)
      #expect(await fixture.stored(Self.page(["utm": "z"])) == "answer 2", "the newest response is shared")
    }
  }

  @Test func `accounts and secrets share nothing`() async throws {
    let store = MemoryStore()
    let cache = ResponseCache(store: store)
    let fixtures = ["ada", "eve"].map { name in
      Self.fixture(store: store) {
        $0.cache.store = .own(cache)
        $0.credentials = FixedCredential(.bearer(name), account: name)
      }
    }
    _ = try await fixtures[0].client.send(Self.page(["utm": "x"]))
    #expect(try await fixtures[1].client.response(Self.page(["utm": "y"])).origin == .network)
    #expect(try await fixtures[0].client.response(Self.page(["utm": "z"])).origin == .cacheFresh)
    let secret = Self.page(["utm": "z"], headers: ["X-Api-Key": .secret("1")])
    #expect(try await fixtures[0].client.response(secret).origin == .network)
  }

  @Test func `Vary still counts`() async throws {
    let fixture = Self.fixture(more: ["Vary": "Accept-Language"])
    func page(_ utm: String, _ language: String) -> Page {
      Self.page(Arguments(["utm": utm]), headers: ["Accept-Language": .text(language)])
    }
    #expect(try await fixture.client.send(page("x", "de")) == "answer 1")
    #expect(try await fixture.client.send(page("y", "en")) == "answer 2")
    #expect(try await fixture.client.send(page("y", "de")) == "answer 3", "the latest of the URLs is looked up")
    #expect(try await fixture.client.send(page("y", "en")) == "answer 2")
    #expect(try await fixture.client.send(page("z", "de")) == "answer 3")
  }

  @Test func `withdrawn field ends the sharing`() async throws {
    let fixture = CacheFixture { request, number in
      .page(
        "answer \(number)",
        number == 1
          ? ["Cache-Control": "max-age=60", "No-Vary-Search": "\(Self.field)"] : ["Cache-Control": "max-age=60"])
    }
    _ = try await fixture.client.send(Self.page(["utm": "x"]))
    _ = try await fixture.client.send(Self.page(["utm": "x"]), options: .cache(.ignoringCache))
    #expect(try await fixture.client.send(Self.page(["utm": "y"])) == "answer 3")
  }

  @Test(arguments: [["utm": "y"], ["utm": "x"], [:]] as [Arguments])
  func `unsafe request removes equivalent responses`(_ arguments: Arguments) async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Self.page(["utm": "x"]))
    _ = try await fixture.client.send(Self.page(["utm": "x"], "other"))
    _ = try await fixture.client.send(Self.page(arguments, method: .delete, policy: .none))
    #expect(await fixture.miss(Self.page(["utm": "x"])) == .missing)
    #expect(await fixture.miss(Self.page(["utm": "z"])) == .missing)
    #expect(await fixture.stored(Self.page(["utm": "z"], "other")) == "answer 2")
  }

  private func delete(_ fixture: CacheFixture) async throws {
    _ = try await fixture.client.send(Self.page(["utm": "other"], method: .delete, policy: .none))
  }

  @Test func `every equivalent response is removed`() async throws {
    let fixture = Self.fixture(more: ["Vary": "Accept-Language"])
    let pages = [("x", "de"), ("y", "en")].map { utm, language in
      Self.page(Arguments(["utm": utm]), headers: ["Accept-Language": .text(language)])
    }
    for page in pages { _ = try await fixture.client.send(page) }
    try await delete(fixture)
    for page in pages { #expect(await fixture.miss(page) == .missing) }
  }

  @Test(arguments: [500, 206, 200]) func `response not stored keeps removals complete`(_ status: Int) async throws {
    let fixture = CacheFixture { request, number in
      let control = number == 2 ? "no-store" : "max-age=60"
      let fields: HTTPFields = ["Cache-Control": "\(control)", "No-Vary-Search": "\(Self.field)"]
      return .page("answer \(number)", fields, status: number == 2 ? status : 200)
    }
    _ = try await fixture.client.send(Self.page(["utm": "x"]))
    _ = try? await fixture.client.send(Self.page(["utm": "y"]), options: .cache(.ignoringCache))
    #expect(await fixture.stored(Self.page(["utm": "x"])) == "answer 1")
    try await delete(fixture)
    #expect(await fixture.miss(Self.page(["utm": "x"])) == .missing)
  }

  @Test func `unrelated removal keeps removals complete`() async throws {
    let latch = Latch()
    let fixture = CacheFixture { request, number in
      if number == 1 { try await latch.wait() }
      return .page("answer \(number)", ["Cache-Control": "max-age=60", "No-Vary-Search": "\(Self.field)"])
    }
    async let page = fixture.client.send(Self.page(["utm": "x"]))
    await latch.reached()
    fixture.cache.removeAll(host: "other.example.com")
    latch.open()
    #expect(try await page == "answer 1")
    #expect(await fixture.stored(Self.page(["utm": "y"])) == "answer 1")
    try await delete(fixture)
    #expect(await fixture.miss(Self.page(["utm": "x"])) == .missing)
  }

  @Test func `removals need no table`() async throws {
    let fixture = Self.fixture()
    for utm in ["x", "y"] {
      _ = try await fixture.client.send(Self.page(Arguments(["utm": utm])), options: .cache(.ignoringCache))
    }
    fixture.cache.searches.withLock { $0 = SearchTable() }
    try await delete(fixture)
    for utm in ["x", "y"] { #expect(await fixture.miss(Self.page(Arguments(["utm": utm]))) == .missing) }
  }

  @Test func `caches that share a store see removals`() async throws {
    let store = MemoryStore()
    let (one, other) = (Self.fixture(store: store), Self.fixture(store: store))
    _ = try await one.client.send(Self.page(["utm": "x"]))
    try await delete(other)
    #expect(await one.miss(Self.page(["utm": "x"])) == .missing)
    #expect(await one.miss(Self.page(["utm": "other"])) == .missing)
  }

  @Test func `response older than a removal is not shared`() async throws {
    let latch = Latch()
    let fixture = CacheFixture { request, number in
      if request.method == .get, number == 1 { try await latch.wait() }
      return .page("answer \(number)", ["Cache-Control": "max-age=60", "No-Vary-Search": "\(Self.field)"])
    }
    async let old = fixture.client.send(Self.page(["utm": "x"]))
    await latch.reached()
    _ = try await fixture.client.send(Self.page([:], method: .post, policy: .none))
    latch.open()
    #expect(try await old == "answer 1")
    #expect(await fixture.miss(Self.page(["utm": "x"])) == .missing)
    #expect(try await fixture.client.send(Self.page([:])) == "answer 3")
  }

  @Test func `removal by request removes equivalents`() async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Self.page(["utm": "x"]))
    try await fixture.client.removeCached(Self.page(["utm": "y"]))
    #expect(await fixture.miss(Self.page(["utm": "z"])) == .missing)
    #expect(await fixture.cache.entries().isEmpty)
  }

  @Test func `other removals end the sharing`() async throws {
    let fixture = Self.fixture()
    for remove in [{ $0.removeAll() }, { $0.removeAll(host: "api.example.com") }] as [(ResponseCache) -> Void] {
      _ = try await fixture.client.send(Self.page(["utm": "x"]))
      remove(fixture.cache)
      #expect(await fixture.miss(Self.page(["utm": "y"])) == .missing)
    }
  }

  @Test func `table is emptied with the cache`() async throws {
    let fixture = Self.fixture()
    for empty in [{ $0.removeAll() }, { await $0.close() }] as [@Sendable (ResponseCache) async -> Void] {
      _ = try await fixture.client.send(Self.page(["utm": "x"]))
      #expect(fixture.cache.searches.withLock { $0.bytes } > 0)
      await empty(fixture.cache)
      #expect(fixture.cache.searches.withLock { $0.bytes } == 0)
    }
  }

  @Test func `only stores in memory share`() async throws {
    let folder = TestFolder()
    let base = SQLiteStore(folder: folder.url, limit: 1 << 20)
    for store in [base, TieredStore(base: base), DictionaryStore()] as [any CacheStore] {
      let fixture = Self.fixture(store: store)
      store.remove(.all)
      _ = try await fixture.client.send(Self.page(["utm": "x"]))
      #expect(try await fixture.client.response(Self.page(["utm": "y"])).origin == .network)
      #expect(fixture.cache.searches.withLock { $0.bytes } == 0)
      try await delete(fixture)
      #expect(await fixture.stored(Self.page(["utm": "x"])) == "answer 1")
    }
    await base.close()
  }

  @Test func `response that is not served is not used`() async throws {
    let fixture = CacheFixture(store: MemoryStore(limit: 25_000, entryLimit: 25_000)) { request, number in
      let control = number == 3 ? "no-store" : "max-age=60"
      return .page(
        String(repeating: "\(number)", count: 9_000),
        ["Cache-Control": "\(control)", "No-Vary-Search": "\(Self.field)"])
    }
    _ = try await fixture.client.send(Self.page(["utm": "x"]))
    _ = try await fixture.client.send(Self.page([:], "other"))
    let asking = Self.page(["utm": "y"], headers: ["Cache-Control": "no-cache"])
    #expect(try await fixture.client.response(asking).origin == .network)
    _ = try await fixture.client.send(Self.page([:], "third"))
    #expect(await fixture.miss(Self.page(["utm": "x"])) == .missing, "the response used least recently is evicted")
    #expect(await fixture.miss(Self.page([:], "other")) == nil)
  }
}
