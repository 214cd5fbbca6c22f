import Errand
@testable import ErrandCache
import ErrandHTTP
import ErrandSupport
import ErrandTesting
import TestSupport
import Testing

/// Which stored responses `Cache-Group-Invalidation` removes (RFC 9875), tested with a complete client.
struct GroupInvalidationTests {
  /// A server whose page `ab` is in the groups "a" and "b", and whose unsafe responses invalidate the given groups.
  private static func answer(
    _ request: HTTPRequest, _ number: Int, invalidating groups: String, status: Int = 200
  ) -> ScriptedAnswer {
    guard request.method.isSafe else {
      return ScriptedAnswer(status: status, fields: ["Cache-Group-Invalidation": "\(groups)"])
    }
    let names = request.url.path.dropFirst().map { "\"\($0)\"" }.joined(separator: ", ")
    return .page(
      "\(request.url.path) \(number)",
      ["Cache-Control": "max-age=60", "Cache-Groups": "\(names)", "Cache-Group-Invalidation": "\(groups)"])
  }

  private static func fixture(
    store: any CacheStore = MemoryStore(), _ groups: String, status: Int = 200,
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> CacheFixture {
    CacheFixture(store: store, change: change) { answer($0, $1, invalidating: groups, status: status) }
  }

  private func change(
    _ fixture: CacheFixture, _ method: HTTPMethod = .post, _ policy: CachePolicy = .none
  ) async throws {
    _ = try await fixture.client.send(
      Page(name: "change", method: method, cache: policy, statusRule: .any, redirects: .manual))
  }

  private func left(_ fixture: CacheFixture, _ names: [String] = ["a", "ab", "b", "c"]) async -> [String] {
    var left: [String] = []
    for name in names where await fixture.miss(.http(name)) == nil { left.append(name) }
    return left
  }

  @Test(arguments: [
    (#""a""#, ["b", "c"]), (#""a", "c""#, ["b"]), (#""b";x=1"#, ["a", "c"]), (#""A""#, ["a", "ab", "b", "c"]),
    ("a", ["a", "ab", "b", "c"]), (#""a","#, ["a", "ab", "b", "c"]),
  ])
  func `listed groups are removed`(_ groups: String, _ expected: [String]) async throws {
    for policy in [CachePolicy.none, .http] {
      let fixture = Self.fixture(groups)
      for name in ["a", "ab", "b", "c"] { _ = try await fixture.client.send(Page.http(name)) }
      try await change(fixture, .post, policy)
      #expect(await left(fixture) == expected)
    }
  }

  @Test(arguments: [(HTTPMethod.get, 200), (.head, 200), (.query, 200), ("OPTIONS", 200)])
  func `safe methods remove no group`(_ method: HTTPMethod, _ status: Int) async throws {
    for policy in [CachePolicy.none, .http] {
      let fixture = Self.fixture(#""a""#)
      _ = try await fixture.client.send(Page.http("a"))
      try await change(fixture, method, policy)
      #expect(fixture.transport.requests.last?.method == method)
      #expect(await left(fixture) == ["a"])
    }
  }

  @Test func `groups of a response are one removal`() async throws {
    let store = RecordingStore()
    let names = (0..<40).map { "\"\($0)\"" }.joined(separator: ", ")
    let fixture = Self.fixture(store: store, names)
    try await change(fixture)
    let groups = (0..<32).map { CacheGroup(origin: "https://api.example.com", name: "\($0)") }
    #expect(store.groupRemovals == [Set(groups)])
  }

  @Test func `address with at sign in the path is grouped`() async throws {
    let fixture = Self.fixture(#""@""#) {
      $0.servers.current = ServerEnvironment(baseURL: "https://[fd00::a]/@me")
    }
    _ = try await fixture.client.send(Page.http("a"))
    #expect(fixture.transport.requests.last?.url.string == "https://[fd00::a]/@me/a")
    try await change(fixture)
    #expect(await left(fixture, ["a"]).isEmpty)
  }

  @Test(arguments: [204, 303, 409, 500]) func `any status of an unsafe method counts`(_ status: Int) async throws {
    let fixture = Self.fixture(#""a""#, status: status)
    _ = try await fixture.client.send(Page.http("a"))
    try await change(fixture, .delete)
    #expect(await left(fixture, ["a"]).isEmpty)
  }

  @Test func `declared lifetime removes no group`() async throws {
    let fixture = Self.fixture(#""a""#)
    _ = try await fixture.client.send(Page.http("a"))
    try await change(fixture, .post, .lifetime(.seconds(60)))
    #expect(await left(fixture) == ["a"])
  }

  @Test func `responses with a lifetime are in groups`() async throws {
    let fixture = Self.fixture(#""a""#)
    _ = try await fixture.client.send(Page(name: "a"))
    #expect(await fixture.stored(Page(name: "a")) == "/a 1")
    try await change(fixture)
    #expect(await fixture.stored(Page(name: "a")) == nil)
  }

  @Test func `other origins keep their groups`() async throws {
    let store = MemoryStore()
    let urls = ["https://api.example.com", "http://api.example.com", "https://api.example.com:8443", "https://h"]
    let fixtures = urls.map { url in
      Self.fixture(store: store, #""a""#) { $0.servers.current = ServerEnvironment(baseURL: url) }
    }
    for fixture in fixtures { _ = try await fixture.client.send(Page.http("a")) }
    try await change(fixtures[0])
    #expect(await left(fixtures[0], ["a"]).isEmpty)
    for fixture in fixtures.dropFirst() { #expect(await left(fixture, ["a"]) == ["a"]) }
  }

  @Test func `tags of the app are no groups`() async throws {
    let fixture = Self.fixture(#""feed""#)
    _ = try await fixture.client.send(Page.http("c"), options: .tag("feed"))
    try await change(fixture)
    #expect(await left(fixture) == ["c"])
    fixture.cache.removeAll(tag: "c")
    #expect(await left(fixture) == ["c"])
  }

  @Test func `group contains every account`() async throws {
    let store = MemoryStore()
    let fixtures = ["ada", "eve"].map { name in
      Self.fixture(store: store, #""a""#) { $0.credentials = FixedCredential(.bearer(name), account: name) }
    }
    for fixture in fixtures {
      for name in ["a", "b"] { _ = try await fixture.client.send(Page.http(name)) }
    }
    try await change(fixtures[0])
    for fixture in fixtures { #expect(await left(fixture) == ["b"]) }
  }

  @Test func `every folder loses the group`() async throws {
    let cache = ResponseCache.inTwoFolders()
    let fixture = Self.fixture(#""p""#) { $0.cache.store = .own(cache) }
    for name in ["page", "p"] { _ = try await fixture.client.send(Page.http(name)) }
    try await change(fixture)
    #expect(await left(fixture, ["page", "p"]).isEmpty)
  }

  @Test func `response under way is not stored`() async throws {
    let latch = Latch()
    let fixture = CacheFixture { request, number in
      if request.url.path == "/a" { try await latch.wait() }
      return Self.answer(request, number, invalidating: #""a""#)
    }
    async let page = fixture.client.send(Page.http("a"))
    await latch.reached()
    try await change(fixture)
    latch.open()
    #expect(try await page == "/a 1")
    #expect(await left(fixture, ["a"]).isEmpty)
    _ = try await fixture.client.send(Page.http("a"))
    #expect(await left(fixture, ["a"]) == ["a"])
  }

  @Test func `own response of an unsafe method stays`() async throws {
    let fixture = CacheFixture { request, number in
      .page(
        "answer \(number)",
        [
          "Cache-Control": "max-age=60", "Cache-Groups": "\"a\"", "Cache-Group-Invalidation": "\"a\"",
          "Content-Location": "\(request.url.path)",
        ])
    }
    _ = try await fixture.client.send(Page.http("other"))
    _ = try await fixture.client.send(Page.http("page", method: .post))
    #expect(await fixture.stored(.http("page")) == "answer 2")
    #expect(await fixture.miss(.http("other")) == .missing)
  }
}

/// A store that keeps nothing and records the removals by group.
private final class RecordingStore: CacheStore {
  private let removals = Locked<[Set<CacheGroup>]>([])
  var groupRemovals: [Set<CacheGroup>] { removals.withLock { $0 } }

  func salt(call: CallState, patience: Duration?) async -> Digest? { .random() }
  func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup { .missing }
  func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool { false }
  func put(_ entry: CacheEntry) {}
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {}
  func remove(_ selection: CacheSelection) {
    if case .groups(let groups) = selection { removals.withLock { $0.append(groups) } }
  }
  func list() async -> [CacheListing] { [] }
  func size() async -> CacheSize { CacheSize(entries: 0, bytes: 0, limit: nil) }
  func flush() async {}
}
