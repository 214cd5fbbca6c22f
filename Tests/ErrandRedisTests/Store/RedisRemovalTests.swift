import ErrandCache
import ErrandCore
import Foundation
import StoreSamples
import Testing

@testable import ErrandRedis

/// A removal removes every byte for every server.
struct RedisRemovalTests {
  private static let selections: [CacheSelection] = [
    .all, .key(Sample.key("/a")), .variant(Sample.key("/a"), Sample.digest("variant ")),
    .target(Sample.key("/a").target), .account(Sample.key("/a").account), .host("api.example.com"), .tag("feed"),
    .group(CacheGroup(origin: "https://api.example.com", name: "news")),
    .olderThan(WallTime(milliseconds: 1_001)),
  ]

  private let settings = TestRedis.settings()

  private func entryKeys() throws -> [String] {
    let raw = try #require(RawRedis(socket: try TestRedis.socket))
    return raw.keys(settings.prefix).filter { $0.contains(":v:") || $0.contains(":r:") }
  }

  @Test(arguments: selections) func `removed bytes are deleted`(_ selection: CacheSelection) async throws {
    let (one, other) = (try TestRedis.store(settings), try TestRedis.store(settings))
    one.put(Sample.entry("/a", head: Sample.head(tag: "feed", groups: "\"news\"")))
    await one.flush()
    #expect(try entryKeys().count == 1)
    other.remove(selection)
    #expect(await other.isMissing(Sample.key("/a")))
    await other.flush()
    #expect(await one.isMissing(Sample.key("/a")))
    #expect(await !one.holdsForOthers(Sample.key("/a", account: "another")))
    #expect(try entryKeys() == [])
  }

  @Test(arguments: [CacheSelection.all, .account(Sample.key("").account), .olderThan(WallTime(milliseconds: 5_000))])
  func `many entries are deleted in steps`(_ selection: CacheSelection) async throws {
    let store = try TestRedis.store(settings)
    for index in 0..<1_000 { store.put(Sample.entry("/\(index)")) }
    await store.flush()
    #expect(await store.size().entries == 1_000)
    store.remove(selection)
    // Stores some entries again while the old ones are deleted.
    for index in 0..<10 { store.put(Sample.entry("/\(index)", body: "new")) }
    await store.flush()
    #expect(try entryKeys().count == 10)
    #expect(await store.text(Sample.key("/3")) == "new")
    #expect(await store.isMissing(Sample.key("/500")))
  }

  /// The bytes of the entry return, as if no scan had deleted them.
  @Test func `earlier removal by age stays valid`() async throws {
    let store = try TestRedis.store(settings)
    let raw = try #require(RawRedis(socket: try TestRedis.socket))
    store.put(Sample.entry("/a", head: Sample.head(time: 3_000)))
    await store.flush()
    let name = try #require(entryKeys().first)
    let dump = try #require(raw.run("DUMP", name).data)
    for time in [5_000, 1_500] as [Int64] { store.remove(.olderThan(WallTime(milliseconds: time))) }
    await store.flush()
    #expect(raw.run([Data("RESTORE".utf8), Data(name.utf8), Data("0".utf8), dump]) == .status("OK"))
    #expect(await store.isMissing(Sample.key("/a")))
  }

  @Test func `many removals by age stay small`() async throws {
    let store = try TestRedis.store(settings)
    for time in (0..<40).reversed() as [Int] {
      store.put(Sample.entry("/\(time)", head: Sample.head(time: Int64(time))))
      store.remove(.olderThan(WallTime(milliseconds: Int64(time) + 1)))
    }
    await store.flush()
    #expect(try entryKeys() == [])
    let raw = try #require(RawRedis(socket: try TestRedis.socket))
    let ages = try #require(raw.run("HGET", "\(settings.prefix):state", "ages").text)
    #expect(ages.utf8.split(separator: 0x20).count <= 32)
  }

  @Test func `removals do not wait for later changes`() async throws {
    let store = try TestRedis.store(settings)
    store.put(Sample.entry("/a"))
    store.remove(.key(Sample.key("/a")))
    for _ in 0..<20 {
      store.remove(.tag("feed"))
      async let state = store.removals(call: CallState(), patience: .seconds(30))
      for index in 0..<50 { store.put(Sample.entry("/\(index)")) }
      #expect(await state == .done)
    }
  }

  @Test func `lost index invalidates its responses`() async throws {
    let store = try TestRedis.store(settings)
    let raw = try #require(RawRedis(socket: try TestRedis.socket))
    for kind in ["t", "c", "h", "a", "o"] {
      store.put(Sample.entry("/a", head: Sample.head(groups: "\"news\"")))
      await store.flush()
      let index = try #require(raw.keys(settings.prefix).first { $0.contains(":i:\(kind):") })
      raw.run("DEL", index)
      #expect(await store.isMissing(Sample.key("/a")), "\(kind)")
    }
  }

  @Test func `indexes drop removed entries`() async throws {
    let store = try TestRedis.store(settings)
    let raw = try #require(RawRedis(socket: try TestRedis.socket))
    for index in 0..<2_000 {
      store.put(Sample.entry("/\(index)"))
      store.remove(.key(Sample.key("/\(index)")))
    }
    await store.flush()
    let index = try #require(raw.keys(settings.prefix).first { $0.contains(":i:h:") })
    #expect((raw.run("SCARD", index).number ?? 2_000) < 50)
  }
}
