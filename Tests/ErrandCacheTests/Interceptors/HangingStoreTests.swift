import Errand
import ErrandCore
import ErrandHTTP
import ErrandTesting
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// A folder whose disk hangs at its first use.
struct HangingStoreTests {
  private let folder = TestFolder()
  private let hold = StoreHold()

  private func store() -> SQLiteStore {
    SQLiteStore(folder: folder.url, limit: 4 << 20, sealing: BodySealing(seal: hold.pass, open: { $0 }))
  }

  /// A store whose thread hangs.
  private func hanging() async -> SQLiteStore {
    let store = store()
    store.put(Sample.entry("/hold", body: "hold"))
    await hold.reached()
    return store
  }

  private static let ordinary: [(Page, CacheReadMode)] = [
    (Page(), .asDeclared), (.http(), .asDeclared), (Page(), .ignoringCache), (Page(), .revalidating),
    (Page(), .cachedElseLoad), (Page(method: .delete, cache: .none), .asDeclared),
  ]

  @Test(arguments: ordinary)
  func `ordinary call proceeds without the store`(_ page: Page, _ mode: CacheReadMode) async throws {
    let fixture = CacheFixture(store: await hanging()) { _, number in .text("answer \(number)") }
    defer { hold.open() }
    let client = fixture.client
    async let value = client.send(page, options: .cache(mode))
    // The timers of the deadline and of the patience.
    #expect(await fixture.clock.waitForTimers(2))
    fixture.clock.advance(by: .milliseconds(251))
    #expect(try await value == "answer 1")
    #expect(fixture.cache.statistics.requests == 0)
  }

  @Test func `logout does not wait for the store`() async throws {
    let asAda: (inout ClientConfiguration) -> Void = {
      $0.credentials = FixedCredential(.bearer("same"), account: "ada")
    }
    let before = store()
    let earlier = CacheFixture(store: before, change: asAda) { _, _ in .text("stored") }
    _ = try await earlier.client.send(Page())
    await before.close()
    let store = await hanging()
    let fixture = CacheFixture(store: store, change: asAda) { _, _ in .failure(.offline) }
    await fixture.cache.removeAll(account: "ada")
    #expect(await fixture.cache.removals(patience: .zero) == .pending)
    hold.open()
    // No lookup follows.
    while await fixture.cache.removals() != .done { await Task.yield() }
    #expect(await store.list().map(\.key) == [Sample.key("/hold")])
    #expect(await fixture.miss() == .missing)
  }

  @Test func `logout reaches other folders`() async throws {
    let beside = SQLiteStore(folder: folder.url.appending(path: "beside"), limit: 4 << 20)
    let hanging = await hanging()
    defer { hold.open() }
    let cache = ResponseCache(
      stores: CacheFolders(
        folder: folder.url,
        filters: [
          CacheFolderFilter { folder, request in
            (request as? Page)?.name == "beside" ? folder.appending(path: "beside") : folder
          }
        ],
        open: { [folder] in $0.path == folder.url.standardizedFileURL.path ? hanging : beside }))
    let salt = try #require(await cache.store(for: Page(name: "beside")).store.salt(call: CallState(), patience: nil))
    let account = CachePartition.account("ada").digest(salt: salt.bytes)
    let sample = Sample.key("/a")
    let key = CacheKey(entry: sample.entry, anyAccount: sample.anyAccount, target: sample.target, account: account)
    beside.put(CacheEntry(key: key, head: Sample.head(), body: Data("body".utf8)))
    await beside.flush()
    await cache.removeAll(account: "ada")
    #expect(await beside.removals(call: CallState(), patience: .seconds(30)) == .done)
    #expect(await beside.text(key) == nil)
    #expect(await cache.removals(patience: .zero) == .pending)
  }

  @Test(arguments: [CacheReadMode.cacheOnly, .cacheOnlyAtAnyAge, .networkElseCached])
  func `offline read waits for the store`(_ mode: CacheReadMode) async throws {
    let before = store()
    let earlier = CacheFixture(store: before) { _, _ in .text("stored") }
    _ = try await earlier.client.send(Page())
    await before.close()
    let fixture = CacheFixture(store: await hanging()) { _, _ in .failure(.offline) }
    let client = fixture.client
    async let outcome = client.outcome(of: Page(), options: .cache(mode))
    #expect(await fixture.clock.waitForTimers(1))
    fixture.clock.advance(by: .seconds(1))
    hold.open()
    #expect(await outcome.value == "stored")
  }
}
