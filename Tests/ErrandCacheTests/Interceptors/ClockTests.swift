import Errand
import ErrandCache
import ErrandCore
import ErrandTesting
import Testing

/// The wall clock is set back or forward between storing and reading.
struct ClockTests {
  private static let policies: [CachePolicy] = [.lifetime(.seconds(60)), .http]

  private static func fixture(_ store: any CacheStore = MemoryStore()) -> CacheFixture {
    CacheFixture(store: store) { _, number in .page("answer \(number)", ["Cache-Control": "max-age=60"]) }
  }

  @Test(arguments: Self.policies) func `clock set back in one process`(_ policy: CachePolicy) async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page(cache: policy))
    fixture.setWall(by: -86_400)
    #expect(try await fixture.client.send(Page(cache: policy)) == "answer 1", "the monotonic clock counts")
    fixture.clock.advance(by: .seconds(60))
    #expect(try await fixture.client.send(Page(cache: policy)) == "answer 2")
  }

  @Test(arguments: Self.policies) func `clock set forward in one process`(_ policy: CachePolicy) async throws {
    let fixture = Self.fixture()
    _ = try await fixture.client.send(Page(cache: policy))
    fixture.setWall(by: 86_400)
    #expect(try await fixture.client.send(Page(cache: policy)) == "answer 2", "the machine may have slept")
  }

  @Test(arguments: Self.policies) func `clock set back between processes`(_ policy: CachePolicy) async throws {
    let fixture = Self.fixture(ForgetfulStore(MemoryStore()))
    _ = try await fixture.client.send(Page(cache: policy))
    fixture.setWall(by: -1)
    #expect(try await fixture.client.send(Page(cache: policy)) == "answer 2", "its age is unknown")
    fixture.setWall(by: 59)
    #expect(try await fixture.client.send(Page(cache: policy)) == "answer 2")
    fixture.setWall(by: 2)
    #expect(try await fixture.client.send(Page(cache: policy)) == "answer 3")
  }

  @Test func `age stays within bounds`() async throws {
    let fixture = Self.fixture(ForgetfulStore(MemoryStore()))
    _ = try await fixture.client.send(Page())
    fixture.setWall(by: -86_400)
    let early = try await fixture.client.response(Page(), options: .cache(.cachedElseLoad))
    #expect(early.fields["Age"] == "0" && early.origin == .cacheStale)
    fixture.wall.append(WallTime(milliseconds: .max))
    let late = try await fixture.client.response(Page(), options: .cache(.cachedElseLoad))
    #expect(late.fields["Age"] == "2147483648")
  }
}

/// A store without times of the monotonic clock, like one that was read from a disk.
private final class ForgetfulStore: CacheStore {
  private let inner: any CacheStore

  init(_ inner: any CacheStore) { self.inner = inner }

  func salt(call: CallState, patience: Duration?) async -> Digest? {
    await inner.salt(call: call, patience: patience)
  }
  func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup { await inner.find(key, choosing: choosing, call: call, patience: patience) }
  func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool {
    await inner.holdsForOthers(anyAccount, than: accounts, call: call, patience: patience)
  }
  func put(_ entry: CacheEntry) {
    var entry = entry
    entry.head.received = nil
    inner.put(entry)
  }
  func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    var head = head
    head.received = nil
    inner.renew(key, stored: stored, head: head)
  }
  func remove(_ selection: CacheSelection) { inner.remove(selection) }
  func list() async -> [CacheListing] { await inner.list() }
  func size() async -> CacheSize { await inner.size() }
  func flush() async { await inner.flush() }
}
