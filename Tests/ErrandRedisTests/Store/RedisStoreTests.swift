import ErrandCache
import ErrandCore
import Foundation
import StoreSamples
import Testing

@testable import ErrandRedis

/// The behaviour of a store in Redis beyond that of every store.
struct RedisStoreTests {
  private let settings = TestRedis.settings()

  @Test func `stores share one Redis`() async throws {
    let (one, other) = (try TestRedis.store(settings), try TestRedis.store(settings))
    one.put(Sample.entry("/a"))
    await one.flush()
    #expect(await other.text(Sample.key("/a")) == "body")
    let head = Sample.head(time: 7_000, eTag: "\"2\"")
    other.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1_000), head: head)
    await other.flush()
    #expect(await one.heads(Sample.key("/a")) == [head])
    other.remove(.target(Sample.key("/a").target))
    await other.flush()
    #expect(await one.isMissing(Sample.key("/a")))
  }

  @Test func `closed store keeps its entries in Redis`() async throws {
    let store = try TestRedis.store(settings)
    store.put(Sample.entry("/a"))
    await store.close()
    await store.close()
    #expect(await store.text(Sample.key("/a")) == nil)
    store.put(Sample.entry("/b"))
    let other = try TestRedis.store(settings)
    #expect(await other.text(Sample.key("/a")) == "body")
    #expect(await other.isMissing(Sample.key("/b")))
    let unused = try TestRedis.store(settings)
    await unused.close()
    #expect(await unused.text(Sample.key("/a")) == nil)
  }

  @Test func `responses of the earlier layout are not found`() async throws {
    let store = try TestRedis.store(settings)
    let raw = try #require(RawRedis(socket: try TestRedis.socket))
    store.put(Sample.entry("/a"))
    await store.flush()
    let key = try #require(raw.keys(settings.prefix).first { $0.contains(":v:") })
    raw.run("RENAME", key, key.replacing(":v:", with: ":e:"))
    #expect(await store.isMissing(Sample.key("/a")))
    #expect(await store.size().entries == 0)
    store.remove(.all)
    await store.flush()
    #expect(raw.keys(settings.prefix).allSatisfy { !$0.contains(":e:") })
  }

  @Test func `every listed group is removed`() async throws {
    let store = try TestRedis.store(settings)
    let groups = ["a", "b", "c"].map { CacheGroup(origin: "https://api.example.com", name: $0) }
    for group in groups { store.put(Sample.entry("/\(group.name)", head: Sample.head(groups: "\"\(group.name)\""))) }
    store.remove(.groups(Set(groups.dropLast())))
    await store.flush()
    for path in ["/a", "/b"] { #expect(await store.isMissing(Sample.key(path))) }
    #expect(await store.text(Sample.key("/c")) == "body")
  }

  @Test func `default prefix contains the program name`() {
    let program = ProcessInfo.processInfo.processName
    #expect(!program.isEmpty && RedisSettings().prefix == "errand:" + program)
  }

  @Test func `other prefix separates stores`() async throws {
    let (one, other) = (try TestRedis.store(settings), try TestRedis.store())
    one.put(Sample.entry("/a"))
    await one.flush()
    #expect(await other.isMissing(Sample.key("/a")))
    other.put(Sample.entry("/a", body: "other"))
    other.remove(.all)
    await other.flush()
    #expect(await one.text(Sample.key("/a")) == "body")
    #expect(await one.salt(call: .withoutTime) != other.salt(call: .withoutTime))
  }

  @Test(arguments: ["a*b", "[x]", "b?c", "tr\\ail", "ü:ö"])
  func `prefix may contain any characters`(_ prefix: String) async throws {
    let settings = TestRedis.settings { $0.prefix += prefix }
    let store = try TestRedis.store(settings)
    store.put(Sample.entry("/a"))
    #expect(await store.list().count == 1)
    #expect(await store.size().entries == 1)
    store.remove(.all)
    await store.flush()
    #expect(await store.isMissing(Sample.key("/a")))
    let raw = try #require(RawRedis(socket: try TestRedis.socket))
    let names = raw.run("KEYS", "*").list.compactMap(\.text)
    #expect(names.filter { $0.hasPrefix(settings.prefix + ":") && $0.contains(":v:") } == [])
  }

  @Test func `all stores share the salt`() async throws {
    let stores = try (0..<8).map { _ in try TestRedis.store(settings) }
    let salts = await withTaskGroup(of: Digest?.self) { group in
      for store in stores { group.addTask { await store.salt(call: .withoutTime) } }
      return await group.reduce(into: Set<Digest?>()) { $0.insert($1) }
    }
    #expect(salts.count == 1 && salts.first != .some(nil))
  }

  @Test func `emptied Redis gets the same salt`() async throws {
    let own = try OwnRedis()
    let one = RedisStore(socket: own.socket, settings: settings)
    let salt = await one.salt(call: .withoutTime)
    one.put(Sample.entry("/a"))
    await one.flush()
    RawRedis(socket: own.socket)?.run("FLUSHALL")
    #expect(await one.isMissing(Sample.key("/a")))
    one.put(Sample.entry("/a"))
    await one.flush()
    let other = RedisStore(socket: own.socket, settings: settings)
    #expect(await other.salt(call: .withoutTime) == salt)
  }

  @Test func `new salt is adopted`() async throws {
    let own = try OwnRedis()
    let one = RedisStore(socket: own.socket, settings: settings)
    let old = await one.salt(call: .withoutTime)
    RawRedis(socket: own.socket)?.run("FLUSHALL")
    let other = RedisStore(socket: own.socket, settings: settings)
    let new = await other.salt(call: .withoutTime)
    #expect(new != old)
    one.put(Sample.entry("/a"))
    await one.flush()
    #expect(await one.salt(call: .withoutTime) == new)
    #expect(await other.isMissing(Sample.key("/a")))
  }

  /// A store whose Redis has lost its data, and a store of another server, which has stored an entry since.
  private func storesAfterLoss(in own: OwnRedis) async -> (one: RedisStore, other: RedisStore) {
    let one = RedisStore(socket: own.socket, settings: settings)
    _ = await one.salt(call: .withoutTime)
    RawRedis(socket: own.socket)?.run("FLUSHALL")
    let other = RedisStore(socket: own.socket, settings: settings)
    _ = await other.salt(call: .withoutTime)
    other.put(Sample.entry("/a"))
    await other.flush()
    return (one, other)
  }

  /// Redis has lost its data, and another server has stored entries since. The entries to remove no longer exist, but
  /// the removal also applies to the new entries.
  @Test(arguments: [
    (CacheSelection.all, true), (.host("api.example.com"), true), (.account(Sample.digest("old account")), true),
    (.target(Sample.digest("old target")), true), (.host("other.example"), false), (.tag("other"), false),
  ])
  func `removal applies after a lost salt`(selection: CacheSelection, removes: Bool) async throws {
    let own = try OwnRedis()
    let (one, other) = await storesAfterLoss(in: own)
    #expect(!(await other.isMissing(Sample.key("/a"))))
    one.remove(selection)
    await one.flush()
    #expect(await other.isMissing(Sample.key("/a")) == removes)
    #expect(await one.removals(call: CallState(), patience: .seconds(30)) == .done)
  }

  /// The removal waits behind commands that are answered with the new salt.
  @Test(arguments: [CacheSelection.account(Sample.digest("old account")), .key(Sample.key("/old"))])
  func `waiting removal applies after a new salt`(selection: CacheSelection) async throws {
    let own = try OwnRedis()
    let (one, other) = await storesAfterLoss(in: own)
    own.freeze()
    for number in 0..<(2 * RedisCommandQueue.mostSent) { one.remove(.host("h\(number).example")) }
    one.remove(selection)
    own.thaw()
    await one.flush()
    #expect(await other.isMissing(Sample.key("/a")))
  }

  @Test func `names and values hide identities`() async throws {
    let store = try TestRedis.store(settings)
    let head = Sample.head(host: "secret-host.example.com", tag: "secret-tag")
    store.put(Sample.entry("/secret-path", account: "secret-account", head: head))
    await store.flush()
    let raw = try #require(RawRedis(socket: try TestRedis.socket))
    let keys = raw.keys(settings.prefix)
    #expect(keys.count == 7)
    for key in keys { #expect(!key.contains("secret")) }
    let all = keys.flatMap { key in raw.fields(key).map { String(decoding: $0.value, as: UTF8.self) } }.joined()
    #expect(all.contains("secret-host") && !all.contains("secret-account") && !all.contains("secret-path"))
  }

  @Test func `memory-only entries are not stored`() async throws {
    let store = try TestRedis.store(settings)
    store.put(Sample.entry("/a", body: "old"))
    store.put(Sample.entry("/a", body: "unseen", head: Sample.head(isMemoryOnly: true)))
    store.put(Sample.entry("/b", body: "unseen"))
    store.renew(
      Sample.key("/b"), stored: WallTime(milliseconds: 1_000), head: Sample.head(time: 2_000, isMemoryOnly: true))
    #expect(await store.isMissing(Sample.key("/a")))
    #expect(await store.isMissing(Sample.key("/b")))
    await store.flush()
    #expect(
      try #require(RawRedis(socket: try TestRedis.socket)).keys(settings.prefix).allSatisfy { !$0.contains(":v:") })
  }

  @Test(arguments: ["", "other"]) func `oversized body removes the older entry`(_ variant: String) async throws {
    let store = try TestRedis.store(TestRedis.settings { $0.entryLimit = 10 })
    store.put(Sample.entry("/a", body: "1234567890", head: Sample.head(variant: variant)))
    #expect(await store.text(Sample.key("/a")) == "1234567890")
    store.put(Sample.entry("/a", body: "12345678901"))
    #expect(await store.isMissing(Sample.key("/a")))
  }

  @Test func `full backlog drops the entry`() async throws {
    let store = try TestRedis.store(TestRedis.settings { $0.backlogLimit = 50_000 })
    store.put(Sample.entry("/a"))
    await store.flush()
    store.put(CacheEntry(key: Sample.key("/a"), head: Sample.head(time: 2_000), body: Data(count: 60_000)))
    #expect(await store.isMissing(Sample.key("/a")))
  }

  @Test(arguments: [8 << 20, 5_000_001]) func `large bodies are returned complete`(_ length: Int) async throws {
    let store = try TestRedis.store(settings)
    let body = Sample.bytes(length)
    store.put(CacheEntry(key: Sample.key("/a"), head: Sample.head(), body: body))
    guard case .found(let found) = await store.newest(Sample.key("/a")) else {
      Issue.record("not found")
      return
    }
    #expect(found.body == body)
  }

  @Test func `older variant is found, too`() async throws {
    let store = try TestRedis.store(settings)
    for (variant, time) in [("de", 10), ("en", 20)] as [(String, Int64)] {
      store.put(Sample.entry("/a", body: variant, head: Sample.head(variant: variant, time: time)))
    }
    let found = await store.find(Sample.key("/a"), choosing: { _ in 1 }, call: CallState(), patience: nil)
    guard case .found(let entry) = found else {
      Issue.record("not found")
      return
    }
    #expect(String(decoding: entry.body, as: UTF8.self) == "de")
  }

  @Test func `at most 32 variants are kept`() async throws {
    let store = try TestRedis.store(settings)
    for index in 1...40 {
      store.put(Sample.entry("/a", head: Sample.head(variant: "\(index)", time: Int64(index))))
    }
    let times = await store.heads(Sample.key("/a")).map(\.responseTime.milliseconds)
    #expect(times == (9...40).reversed())
  }

  @Test func `variants are removed separately`() async throws {
    let store = try TestRedis.store(settings)
    let tagged = Sample.head(variant: "de", tag: "feed")
    store.put(Sample.entry("/a", body: "de", head: tagged))
    store.put(Sample.entry("/a", body: "en", head: Sample.head(variant: "en", time: 2_000)))
    store.remove(.tag("feed"))
    #expect(await store.heads(Sample.key("/a")).map(\.responseTime.milliseconds) == [2_000])
    // The tag of an entry is that of the last call that stored it.
    store.put(Sample.entry("/a", body: "de", head: tagged))
    store.put(Sample.entry("/a", body: "de", head: Sample.head(variant: "de", tag: "other")))
    store.remove(.tag("feed"))
    await store.flush()
    #expect(await store.heads(Sample.key("/a")).count == 2)
  }
}
