import Errand
import ErrandCore
import ErrandSupport
import ErrandTesting
import StoreSamples
import Testing

@testable import ErrandCache

/// Removals from a store that is not available yet, such as a Redis that is down while the program starts.
struct LateSaltTests {
  /// The store of an earlier run, and the same store as this run sees it.
  private let before = MemoryStore()
  private let late: SlowStore

  init() { late = SlowStore(before, isThere: false) }

  private static func fixture(_ store: any CacheStore, account: String? = nil) -> CacheFixture {
    CacheFixture(
      store: store,
      change: { configuration in
        if let account { configuration.credentials = FixedCredential(.bearer("same"), account: account) }
      }
    ) { request, number in
      request.method == .get ? .page("answer \(number)", ["Cache-Control": "max-age=60"]) : .status(200)
    }
  }

  @Test func `logout is applied later`() async throws {
    for name in ["ada", "eve"] { _ = try await Self.fixture(before, account: name).client.send(Page()) }
    let ada = Self.fixture(late, account: "ada")
    await ada.cache.removeAll(account: "ada")
    late.come()
    #expect(await ada.miss() == .otherAccount)
    #expect(await ada.stored() == nil)
    #expect(await Self.fixture(late, account: "eve").stored() == "answer 1")
  }

  @Test(arguments: [CachePolicy.none, .http])
  func `invalidation is applied later`(_ own: CachePolicy) async throws {
    let earlier = Self.fixture(before)
    for name in ["page", "other"] { _ = try await earlier.client.send(Page.http(name)) }
    let fixture = Self.fixture(late)
    _ = try await fixture.client.send(Page(method: .post, cache: own))
    late.come()
    #expect(await fixture.miss(.http()) == .missing)
    #expect(await fixture.stored(.http("other")) == "answer 2")
  }

  @Test func `removal by request is applied later`() async throws {
    let earlier = Self.fixture(before)
    for name in ["page", "other"] { _ = try await earlier.client.send(Page(name: name)) }
    let fixture = Self.fixture(late)
    try await fixture.client.removeCached(Page())
    late.come()
    #expect(await fixture.miss() == .missing)
    #expect(await fixture.stored(Page(name: "other")) == "answer 2")
  }

  @Test func `only-if-cached avoids the server`() async {
    let fixture = Self.fixture(late)
    let outcome = await fixture.client.outcome(of: Page.http(headers: ["Cache-Control": "only-if-cached"]))
    #expect(outcome.error?.status == 504 && outcome.origin == .local)
    #expect(outcome.metrics.cache?.miss == .unavailable && fixture.asked == 0)
  }

  @Test func `removal is applied only once`() async throws {
    let fixture = Self.fixture(late)
    _ = try await fixture.client.send(Page(method: .delete, cache: .none))
    late.come()
    for _ in 0..<3 { #expect(try await fixture.client.send(Page.http()) == "answer 2") }
    #expect(fixture.asked == 2)
  }

  @Test func `too many removals become all`() throws {
    let salt = Sample.digest("salt")
    let most = 64 << 10
    var pending = PendingRemovals(most: most)
    for index in 0..<50 { pending.add(.account(ByteText("\(index)"))) }
    let long = String(repeating: "x", count: most / 2)
    for _ in 0..<3 { pending.add(.account(ByteText(long))) }
    #expect(pending.selections(salt: salt).count == 51)
    pending.add(.account(ByteText(long + "one more")))
    #expect(pending.selections(salt: salt) == [.all])
    pending.add(.account(ByteText("and another")))
    #expect(pending.selections(salt: salt) == [.all])
    pending.settle(pending)
    #expect(pending.isEmpty)
  }

  @Test func `removals during settling stay recorded`() {
    var pending = PendingRemovals()
    pending.add(.account(ByteText("ada")))
    let applied = pending
    for name in ["ada", "eve"] { pending.add(.account(ByteText(name))) }
    pending.settle(applied)
    #expect(pending.selections(salt: Sample.digest("salt")).count == 2)
    pending.settle(pending)
    #expect(pending.isEmpty)
  }
}
