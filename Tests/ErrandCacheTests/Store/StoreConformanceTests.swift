import ErrandCache
import ErrandCore
import Foundation
import StoreSamples
import Testing

/// The behaviour that every store must have.
struct StoreConformanceTests {
  @Test(arguments: StoreKind.all) func `stored entry is found`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      let entry = Sample.entry("/a")
      store.put(entry)
      for _ in 0..<2 {
        guard case .found(let found) = await store.newest(entry.key) else {
          Issue.record("not found")
          return
        }
        #expect(found.key.entry == entry.key.entry && found.key.account == entry.key.account)
        #expect(found.head == entry.head)
        #expect(found.body == entry.body)
        await store.flush()
      }
    }
  }

  @Test(arguments: StoreKind.all) func `unknown key is missing`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      #expect(await store.isMissing(Sample.key("/a")))
      store.put(Sample.entry("/a"))
      #expect(await store.isMissing(Sample.key("/b")))
      #expect(await store.isMissing(Sample.key("/a", account: "somebody")))
    }
  }

  @Test(arguments: StoreKind.all, [0, 1, 4_095, 70_000, 1_000_000])
  func `bodies of every length are returned`(_ kind: StoreKind, length: Int) async throws {
    try await kind.with { store in
      let body = Sample.bytes(length)
      store.put(CacheEntry(key: Sample.key("/a"), head: Sample.head(), body: body))
      await store.flush()
      guard case .found(let found) = await store.newest(Sample.key("/a")) else {
        Issue.record("not found")
        return
      }
      #expect(found.body == body)
    }
  }

  @Test(arguments: StoreKind.all) func `variants come newest first`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      for (variant, time) in [("de", 20), ("en", 30), ("fr", 10)] as [(String, Int64)] {
        store.put(Sample.entry("/a", body: variant, head: Sample.head(variant: variant, time: time)))
        await store.flush()
      }
      #expect(await store.heads(Sample.key("/a")).map(\.responseTime.milliseconds) == [30, 20, 10])
      let found = await store.find(
        Sample.key("/a"), choosing: { $0.firstIndex { $0.variant == Sample.digest("variant fr") } }, call: CallState(),
        patience: nil)
      guard case .found(let entry) = found else {
        Issue.record("not found")
        return
      }
      #expect(String(decoding: entry.body, as: UTF8.self) == "fr")
    }
  }

  @Test(arguments: StoreKind.all, [-1, 1, .max])
  func `invalid index refuses`(_ kind: StoreKind, index: Int) async throws {
    try await kind.with { store in
      store.put(Sample.entry("/a"))
      for _ in 0..<2 {
        let found = await store.find(Sample.key("/a"), choosing: { _ in index }, call: CallState(), patience: nil)
        guard case .refused(let heads) = found else {
          Issue.record("not refused")
          return
        }
        #expect(heads.count == 1)
        await store.flush()
      }
    }
  }

  @Test(arguments: StoreKind.all, [true, false])
  func `same variant is replaced`(_ kind: StoreKind, flushed: Bool) async throws {
    try await kind.with { store in
      store.put(Sample.entry("/a", body: "old"))
      if flushed { await store.flush() }
      store.put(Sample.entry("/a", body: "new", head: Sample.head(time: 2_000)))
      #expect(await store.text(Sample.key("/a")) == "new")
      await store.flush()
      #expect(await store.text(Sample.key("/a")) == "new")
      #expect(await store.heads(Sample.key("/a")).count == 1)
      #expect(await store.size().entries == 1)
    }
  }

  @Test(arguments: StoreKind.all.filter { !$0.keepsMemoryOnly }, [true, false])
  func `memory-only entry removes older variants`(_ kind: StoreKind, flushed: Bool) async throws {
    try await kind.with { store in
      store.put(Sample.entry("/a", body: "older", head: Sample.head(variant: "de")))
      store.put(Sample.entry("/b"))
      if flushed { await store.flush() }
      store.put(Sample.entry("/a", head: Sample.head(variant: "en", time: 2_000, isMemoryOnly: true)))
      for _ in 0..<2 {
        #expect(await store.isMissing(Sample.key("/a")))
        #expect(await store.text(Sample.key("/b")) == "body")
        await store.flush()
      }
    }
  }

  @Test(arguments: StoreKind.all, [true, false])
  func `renewed head keeps the body`(_ kind: StoreKind, flushed: Bool) async throws {
    try await kind.with { store in
      store.put(Sample.entry("/a"))
      if flushed { await store.flush() }
      let head = Sample.head(time: 5_000, eTag: "\"2\"")
      store.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1_000), head: head)
      for _ in 0..<2 {
        #expect(await store.heads(Sample.key("/a")) == [head])
        #expect(await store.text(Sample.key("/a")) == "body")
        await store.flush()
      }
    }
  }

  @Test(arguments: StoreKind.all, [true, false])
  func `renewal with another response time is ignored`(_ kind: StoreKind, flushed: Bool) async throws {
    try await kind.with { store in
      store.put(Sample.entry("/a"))
      if flushed { await store.flush() }
      let key = Sample.key("/a")
      store.renew(key, stored: WallTime(milliseconds: 999), head: Sample.head(time: 5_000))
      store.renew(key, stored: WallTime(milliseconds: 1_000), head: Sample.head(variant: "de", time: 5_000))
      store.renew(Sample.key("/b"), stored: WallTime(milliseconds: 1_000), head: Sample.head(time: 5_000))
      for _ in 0..<2 {
        #expect(await store.heads(key) == [Sample.head()])
        await store.flush()
      }
    }
  }

  @Test(arguments: StoreKind.all) func `renewed head is sorted by its time`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      store.put(Sample.entry("/a", head: Sample.head(variant: "de", time: 10)))
      store.put(Sample.entry("/a", head: Sample.head(variant: "en", time: 20)))
      await store.flush()
      store.renew(Sample.key("/a"), stored: WallTime(milliseconds: 10), head: Sample.head(variant: "de", time: 30))
      for _ in 0..<2 {
        #expect(await store.heads(Sample.key("/a")).map(\.responseTime.milliseconds) == [30, 20])
        await store.flush()
      }
    }
  }

  @Test(arguments: StoreKind.all) func `accounts are kept separate`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      store.put(Sample.entry("/a", account: "one", body: "1"))
      store.put(Sample.entry("/a", account: "two", body: "2"))
      for _ in 0..<2 {
        #expect(await store.text(Sample.key("/a", account: "one")) == "1")
        #expect(await store.text(Sample.key("/a", account: "two")) == "2")
        let nobody = Sample.key("/a")
        #expect(await store.isMissing(nobody))
        #expect(await store.holdsForOthers(nobody))
        #expect(await store.holdsForOthers(Sample.key("/a", account: "one")))
        #expect(await !store.holdsForOthers(Sample.key("/b")))
        await store.flush()
      }
      store.remove(.key(Sample.key("/a", account: "two")))
      for _ in 0..<2 {
        // The caller's own entry does not count, even if no lookup has found it before.
        #expect(await !store.holdsForOthers(Sample.key("/a", account: "one")))
        #expect(await store.holdsForOthers(Sample.key("/a", account: "two")))
        await store.flush()
      }
      store.remove(.all)
      #expect(await !store.holdsForOthers(Sample.key("/a", account: "one")))
    }
  }

  @Test(arguments: StoreKind.all) func `repeated account counts once`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      for account in ["one", "two"] { store.put(Sample.entry("/a", account: account)) }
      let one = Sample.key("/a", account: "one")
      let accounts = [one.account, one.account]
      for _ in 0..<2 {
        #expect(await store.holdsForOthers(one.anyAccount, than: accounts, call: CallState(), patience: nil))
        await store.flush()
      }
    }
  }

  @Test(arguments: StoreKind.all) func `removals by age do not add up`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      store.put(Sample.entry("/a", head: Sample.head(time: 1_000)))
      store.remove(.olderThan(WallTime(milliseconds: 5_000)))
      store.put(Sample.entry("/b", head: Sample.head(time: 2_000)))
      await store.flush()
      store.remove(.olderThan(WallTime(milliseconds: 1_500)))
      for _ in 0..<2 {
        #expect(await store.isMissing(Sample.key("/a")))
        #expect(await store.text(Sample.key("/b")) == "body")
        await store.flush()
      }
    }
  }

  /// Both tags and both hosts are equal as Swift strings.
  @Test(arguments: StoreKind.all) func `selections are compared byte by byte`(_ kind: StoreKind) async throws {
    let names = ["ad\u{e1}", "ada\u{301}"]
    #expect(Set(names.map { CacheSelection.tag($0) } + names.map { .host($0) }).count == 4)
    #expect(Set(names.map { CacheEntryLabel(method: "GET", url: $0, host: $0, tag: $0) }).count == 2)
    try await kind.with { store in
      for name in names { store.put(Sample.entry("/\(name.utf8.count)", head: Sample.head(host: name, tag: name))) }
      await store.flush()
      store.remove(.tag(names[0]))
      #expect(await store.isMissing(Sample.key("/\(names[0].utf8.count)")))
      #expect(await store.text(Sample.key("/\(names[1].utf8.count)")) == "body")
      store.remove(.host(names[1]))
      #expect(await store.isMissing(Sample.key("/\(names[1].utf8.count)")))
    }
  }

  @Test(arguments: StoreKind.all) func `countless removals keep other entries`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      store.put(Sample.entry("/a", head: Sample.head(tag: "a")))
      store.put(Sample.entry("/b", head: Sample.head(tag: "tag 1999")))
      for index in 0..<2_000 { store.remove(.tag("tag \(index)")) }
      for _ in 0..<2 {
        #expect(await store.text(Sample.key("/a")) == "body")
        #expect(await store.isMissing(Sample.key("/b")))
        await store.flush()
      }
    }
  }

  /// Cookies and secret fields are part of the entry's digest, so one account may have entries under several keys.
  @Test(arguments: StoreKind.all) func `same account is no other account`(_ kind: StoreKind) async throws {
    func key(_ cookie: String, account: String) -> CacheKey {
      CacheKey(
        entry: Sample.digest("entry \(cookie) \(account)"), anyAccount: Sample.digest("any"),
        target: Sample.digest("target \(account)"), account: Sample.digest(account))
    }
    try await kind.with { store in
      for cookie in ["1", "2"] {
        store.put(CacheEntry(key: key(cookie, account: "ada"), head: Sample.head(), body: Data()))
      }
      for _ in 0..<2 {
        for cookie in ["1", "2", "3"] {
          #expect(await !store.holdsForOthers(key(cookie, account: "ada")))
        }
        #expect(await store.holdsForOthers(key("1", account: "eve")))
        await store.flush()
      }
      store.put(CacheEntry(key: key("1", account: "eve"), head: Sample.head(), body: Data()))
      for _ in 0..<2 {
        #expect(await store.holdsForOthers(key("3", account: "ada")))
        await store.flush()
      }
      store.remove(.account(Sample.digest("ada")))
      #expect(await !store.holdsForOthers(key("2", account: "eve")))
    }
  }

  /// Stores may look up by shortened digests, but must compare whole digests.
  @Test(arguments: StoreKind.all) func `whole digests are compared`(_ kind: StoreKind) async throws {
    func key(_ last: UInt64) -> CacheKey {
      let digest = Digest(words: (1, 2, 3, last))
      return CacheKey(entry: digest, anyAccount: digest, target: digest, account: digest)
    }
    try await kind.with { store in
      store.put(CacheEntry(key: key(1), head: Sample.head(), body: Data("1".utf8)))
      for _ in 0..<2 {
        #expect(await store.text(key(1)) == "1")
        #expect(await store.isMissing(key(2)))
        #expect(await !store.holdsForOthers(key(2)))
        await store.flush()
      }
    }
  }

  @Test(arguments: StoreKind.all) func `list is ordered by last use`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      for path in ["/a", "/b", "/c"] { store.put(Sample.entry(path, body: path)) }
      await store.flush()
      // Uses within the same millisecond cannot be ordered.
      let start = WallTime.now
      while WallTime.now.milliseconds < start.milliseconds + 2 { await Task.yield() }
      #expect(await store.text(Sample.key("/b")) == "/b")
      let list = await store.list()
      #expect(list.first?.key == Sample.key("/b"))
      #expect(Set(list.map(\.key)) == Set(["/a", "/b", "/c"].map { Sample.key($0) }))
      #expect(list.allSatisfy { $0.bodyLength == 2 && $0.head == Sample.head() })
      #expect(await store.size().entries == 3)
    }
  }

  @Test(arguments: StoreKind.all) func `salt does not change`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      let salt = await store.salt(call: .withoutTime)
      #expect(salt != nil)
      store.remove(.all)
      #expect(await store.salt(call: .withoutTime) == salt)
    }
  }

  @Test(arguments: StoreKind.bounded) func `least recently used are evicted first`(_ kind: StoreKind)
    async throws
  {
    try await kind.with(limit: 4 << 20) { store in
      for index in 0..<100 {
        store.put(CacheEntry(key: Sample.key("/\(index)"), head: Sample.head(), body: Sample.bytes(100_000)))
        await store.flush()
        guard case .found = await store.newest(Sample.key("/0")) else {
          Issue.record("the most used entry went after \(index)")
          return
        }
        #expect(await store.size().bytes <= 4 << 20)
      }
      #expect(await store.isMissing(Sample.key("/1")))
      guard case .found = await store.newest(Sample.key("/99")) else {
        Issue.record("the newest entry went")
        return
      }
    }
  }

  @Test(arguments: StoreKind.all) func `concurrent calls get their own bodies`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      await withTaskGroup(of: Void.self) { group in
        for worker in 0..<8 {
          group.addTask { await Self.race(store, worker: worker) }
        }
      }
      await store.flush()
      #expect(await store.size().entries <= 20)
    }
  }

  private static func race(_ store: any CacheStore, worker: Int) async {
    var random = UInt64(worker) &* 77 &+ 1
    for round in 0..<200 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let path = "/\(random >> 40 % 20)"
      switch random >> 33 % 8 {
      case 0: store.remove(.key(Sample.key(path)))
      case 1: store.remove(.target(Sample.key(path).target))
      case 2, 3: store.put(Sample.entry(path, body: path, head: Sample.head(time: Int64(round))))
      case 4: store.renew(Sample.key(path), stored: WallTime(milliseconds: Int64(round)), head: Sample.head())
      default:
        if let text = await store.text(Sample.key(path)) { #expect(text == path) }
      }
    }
  }
}
