import ErrandSupport
import ErrandCore
import ErrandTesting
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

struct TieredStoreTests {
  /// A store that counts its lookups and delays their results.
  private final class SlowStore: CacheStore {
    let base = DictionaryStore()
    let latch = Latch()
    let looks = Locked(0)
    /// Runs before each change.
    let beforeChange = Locked<(@Sendable () -> Void)?>(nil)

    func salt(call: CallState, patience: Duration?) async -> Digest? {
      await base.salt(call: call, patience: patience)
    }
    func find(
      _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
    ) async -> CacheLookup {
      looks.withLock { $0 += 1 }
      let found = await base.find(key, choosing: choosing, call: call, patience: patience)
      await latch.waitStubbornly()
      return found
    }
    func holdsForOthers(
      _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
    ) async -> Bool {
      await base.holdsForOthers(anyAccount, than: accounts, call: call, patience: patience)
    }
    func put(_ entry: CacheEntry) {
      beforeChange.withLock { $0 }?()
      base.put(entry)
    }
    func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
      beforeChange.withLock { $0 }?()
      base.renew(key, stored: stored, head: head)
    }
    func remove(_ selection: CacheSelection) {
      beforeChange.withLock { $0 }?()
      base.remove(selection)
    }
    func list() async -> [CacheListing] { await base.list() }
    func size() async -> CacheSize { await base.size() }
    func flush() async {}
  }

  private let base = SlowStore()
  private let memory = MemoryStore(limit: 1 << 20, entryLimit: 50_000)
  private var store: TieredStore { TieredStore(memory: memory, base: base) }

  @Test func `entry found below is kept in memory`() async {
    base.latch.open()
    base.put(Sample.entry("/a"))
    #expect(await store.text(Sample.key("/a")) == "body")
    #expect(await store.text(Sample.key("/a")) == "body")
    #expect(base.looks.withLock { $0 } == 1)
    guard case .found(let entry) = await store.newest(Sample.key("/a")) else {
      Issue.record("not found")
      return
    }
    #expect(entry.decoded != nil)
  }

  @Test func `put entry is found in memory`() async {
    store.put(Sample.entry("/a"))
    #expect(await store.text(Sample.key("/a")) == "body")
    #expect(base.looks.withLock { $0 } == 0)
  }

  private static let changes: [@Sendable (TieredStore) -> Void] = [
    { $0.remove(.all) },
    { $0.remove(.key(Sample.key("/a"))) },
    { $0.remove(.target(Sample.key("/a").target)) },
    { $0.put(CacheEntry(key: Sample.key("/a"), head: Sample.head(time: 2_000), body: Data(count: 60_000))) },
    { $0.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1_000), head: Sample.head(time: 2_000)) },
  ]

  @Test(arguments: changes.indices) func `slow lookup promotes no outdated entry`(_ index: Int) async {
    let store = store
    base.put(Sample.entry("/a"))
    let slow = Task { await store.text(Sample.key("/a")) }
    await base.latch.reached()
    Self.changes[index](store)
    base.latch.open()
    #expect(await slow.value == "body")
    #expect(await memory.isMissing(Sample.key("/a")))
  }

  /// In the other order, a lookup between both changes could promote an entry that the change should affect.
  @Test(arguments: changes.indices) func `changes reach the store below first`(_ index: Int) async {
    let store = store
    store.put(Sample.entry("/a"))
    let before = Locked<[CacheEntryHead]>([])
    let memory = memory
    base.beforeChange.withLock {
      $0 = {
        if case .refused(let heads) = memory.look(Sample.key("/a"), choosing: { _ in nil }) {
          before.withLock { $0 = heads }
        }
      }
    }
    Self.changes[index](store)
    #expect(before.withLock { $0 } == [Sample.head()])
  }

  @Test func `older variant is not promoted`() async {
    base.latch.open()
    base.put(Sample.entry("/a", body: "de", head: Sample.head(variant: "de", time: 1)))
    base.put(Sample.entry("/a", body: "en", head: Sample.head(variant: "en", time: 2)))
    let call = CallState()
    guard
      case .found(let old) = await store.find(Sample.key("/a"), choosing: { $0.count - 1 }, call: call, patience: nil)
    else {
      Issue.record("not found")
      return
    }
    #expect(old.body == Data("de".utf8))
    #expect(await store.text(Sample.key("/a")) == "en")
    #expect(await memory.heads(Sample.key("/a")).map(\.responseTime.milliseconds) == [2])
  }

  @Test func `refused lookup lists heads of both tiers`() async {
    base.latch.open()
    base.put(Sample.entry("/a", head: Sample.head(variant: "de", time: 1)))
    memory.put(Sample.entry("/a", head: Sample.head(variant: "en", time: 2)))
    #expect(await store.heads(Sample.key("/a")).map(\.responseTime.milliseconds) == [2, 1])
  }

  @Test func `memory-only entry stays in memory`() async {
    let folder = TestFolder()
    let disk = SQLiteStore(folder: folder.url)
    let store = TieredStore(memory: memory, base: disk)
    store.put(Sample.entry("/a", body: "older"))
    await store.flush()
    store.put(Sample.entry("/a", body: "secret", head: Sample.head(time: 2_000, isMemoryOnly: true)))
    await store.flush()
    #expect(await store.text(Sample.key("/a")) == "secret")
    #expect(await disk.isMissing(Sample.key("/a")))
    #expect(await store.list().count == 1)
    #expect(await store.size().entries == 1)
    memory.remove(.all)
    #expect(await store.isMissing(Sample.key("/a")))
  }

  @Test func `concurrent removals leave no memory entry`() async {
    let folder = TestFolder()
    let store = TieredStore(memory: memory, base: SQLiteStore(folder: folder.url))
    for round in 0..<200 {
      let entry = Sample.entry("/a", body: "\(round)", head: Sample.head(time: Int64(round)))
      store.put(entry)
      if round % 2 == 0 { memory.remove(.all) }
      if round % 3 == 0 { await store.flush() }
      async let looks: Void = withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { _ = await store.text(entry.key) } }
      }
      store.remove(.key(entry.key))
      #expect(await store.isMissing(entry.key))
      await looks
      #expect(await store.isMissing(entry.key))
    }
  }
}
