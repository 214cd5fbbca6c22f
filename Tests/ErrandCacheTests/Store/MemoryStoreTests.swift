@testable import ErrandCache
import ErrandCore
import ErrandJSON
import Foundation
import StoreSamples
import Testing

struct MemoryStoreTests {
  private struct Request {}
  private let name = DecodedRules(type: Request.self, ResponseValidation(status: .success), json: .standard)

  private func found(_ store: MemoryStore, _ path: String) async -> CacheEntry? {
    if case .found(let entry) = await store.newest(Sample.key(path)) { entry } else { nil }
  }

  @Test func `decoded value is kept with its entry`() async {
    let store = MemoryStore()
    store.put(Sample.entry("/a"))
    await found(store, "/a")?.decoded?.keep(42, name, cost: 10)
    #expect(await found(store, "/a")?.decoded?.value(name) as? Int == 42)
    let other = DecodedRules(type: Request.self, ResponseValidation(status: .any), json: .standard)
    #expect(await found(store, "/a")?.decoded?.value(other) == nil)
  }

  @Test func `decoded value is released with its entry`() async {
    final class Value: Sendable {}
    let store = MemoryStore()
    weak var value: Value?
    store.put(Sample.entry("/a"))
    do {
      let made = Value()
      value = made
      await found(store, "/a")?.decoded?.keep(made, name, cost: 10)
    }
    #expect(value != nil)
    store.remove(.all)
    #expect(value == nil)
  }

  @Test(arguments: ["put", "renewed"]) func `new response drops the decoded value`(_ way: String) async {
    let store = MemoryStore()
    store.put(Sample.entry("/a"))
    let old = await found(store, "/a")?.decoded
    old?.keep(42, name, cost: 10)
    if way == "put" {
      store.put(Sample.entry("/a"))
    } else {
      store.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1_000), head: Sample.head(time: 2_000))
    }
    #expect(await found(store, "/a")?.decoded?.count == 0)
    let before = await store.size()
    old?.keep(43, DecodedRules(type: Request.self, ResponseValidation(status: [201]), json: .standard), cost: 10)
    #expect(old?.count == 1)
    #expect(await store.size() == before)
  }

  @Test func `decoded values count as bytes`() async {
    let store = MemoryStore(limit: 20_000, entryLimit: 10_000)
    store.put(Sample.entry("/a"))
    store.put(Sample.entry("/b"))
    let before = await store.size().bytes
    await found(store, "/b")?.decoded?.keep(1, name, cost: 5_000)
    #expect(await store.size().bytes == before + 5_000)
    await found(store, "/b")?.decoded?.keep(
      2, DecodedRules(type: Request.self, ResponseValidation(status: [2]), json: .standard), cost: 5_000)
    #expect(await found(store, "/b")?.decoded?.count == 1)
    store.put(CacheEntry(key: Sample.key("/c"), head: Sample.head(), body: Data(count: 8_500)))
    await found(store, "/c")?.decoded?.keep(2, name, cost: 400)
    #expect(await store.size().bytes <= 20_000)
    store.remove(.all)
    #expect(await store.size() == CacheSize(entries: 0, bytes: 0, limit: 20_000))
  }

  @Test func `oversized entry is not kept`() async {
    let store = MemoryStore(limit: 100_000)
    store.put(Sample.entry("/a", body: "old"))
    store.put(CacheEntry(key: Sample.key("/a"), head: Sample.head(time: 2_000), body: Data(count: 5_000)))
    #expect(await store.isMissing(Sample.key("/a")))
    #expect(await store.size().bytes == 0)
  }

  @Test func `variants of one key are evicted together`() async {
    let store = MemoryStore(limit: 20_000, entryLimit: 20_000)
    store.put(Sample.entry("/a", head: Sample.head(variant: "de", time: 1)))
    store.put(Sample.entry("/b"))
    store.put(Sample.entry("/a", head: Sample.head(variant: "en", time: 2)))
    store.put(CacheEntry(key: Sample.key("/c"), head: Sample.head(), body: Data(count: 16_000)))
    #expect(await store.isMissing(Sample.key("/b")))
    #expect(await store.heads(Sample.key("/a")).count == 2)
    store.put(CacheEntry(key: Sample.key("/d"), head: Sample.head(), body: Data(count: 16_000)))
    #expect(await store.isMissing(Sample.key("/a")))
  }

  @Test func `variants of one key are limited`() async {
    let store = MemoryStore()
    for index in 0..<100 {
      store.put(Sample.entry("/a", head: Sample.head(variant: "\(index)", time: Int64(index))))
    }
    let times = await store.heads(Sample.key("/a")).map(\.responseTime.milliseconds)
    #expect(times == Array((68..<100).reversed()))
    #expect(await store.size().entries == 32)
  }

  @Test func `zero limit stores nothing`() async {
    let store = MemoryStore(limit: 0)
    store.put(Sample.entry("/a"))
    #expect(await store.isMissing(Sample.key("/a")))
    #expect(await store.size() == CacheSize(entries: 0, bytes: 0, limit: 0))
  }

  @Test func `any change prevents promotion`() async {
    let store = MemoryStore()
    let entry = Sample.entry("/a")
    let changes: [@Sendable () -> Void] = [
      { store.remove(.all) }, { store.remove(.target(Sample.digest("something else"))) }, { store.put(entry) },
      { store.renew(entry.key, stored: WallTime(milliseconds: 1), head: entry.head) },
    ]
    for change in changes {
      let stamp = store.stamp(entry.key)
      change()
      store.remove(.key(entry.key))
      let kept = store.promote(entry, stamp)
      #expect(kept.decoded == nil)
      #expect(await store.isMissing(entry.key))
    }
    #expect(store.promote(entry, store.stamp(entry.key)).decoded != nil)
    #expect(await store.text(entry.key) == "body")
  }
}
