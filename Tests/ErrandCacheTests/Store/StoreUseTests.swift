import ErrandCore
import ErrandSupport
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// The times of the last uses on disk.
struct StoreUseTests {
  private let folder = TestFolder()

  @Test func `use during writing is recorded`() async {
    let mailbox = StoreMailbox(StoreSettings(folder: folder.url, limit: 1 << 20, entryLimit: nil, sealing: nil))
    mailbox.write {
      for path in ["/a", "/b"] { $0.put(Sample.entry(path)) }
    }
    let uses = await withCheckedContinuation { continuation in
      mailbox.barrier { worker in
        try? worker?.using { index throws(SQLiteFailure) in try index.database.run("UPDATE entry SET last_use = 1") }
        _ = worker?.find(Sample.key("/a")) { _ in 0 }
        mailbox.read { _ = $0?.find(Sample.key("/b")) { _ in 0 } }
        // Writes the first use, and serves the pending read during the write.
        _ = worker?.list()
        continuation.resume(returning: worker?.list()?.map(\.lastUse.milliseconds) ?? [])
      }
    }
    #expect(uses.count == 2 && !uses.contains(1))
    mailbox.close()
    await mailbox.ended()
  }

  private func forgetUses() throws {
    try SQLiteDatabase(path: StoreFolder(folder.url).index) { false }.run("UPDATE entry SET last_use = 1")
  }

  @Test func `memory hit updates the disk's last use`() async throws {
    let disk = SQLiteStore(folder: folder.url, limit: 4 << 20)
    let memory = MemoryStore(limit: 1 << 20, salt: Sample.digest("salt"), reportInterval: 0)
    let store = TieredStore(memory: memory, base: disk)
    for path in ["/a", "/b"] { store.put(Sample.entry(path)) }
    await store.flush()
    try forgetUses()
    #expect(await store.text(Sample.key("/b")) == "body")
    #expect(await disk.list().map { $0.lastUse.milliseconds == 1 } == [false, true])
    #expect(await disk.list().first?.key == Sample.key("/b"))
  }

  @Test func `memory hits prevent disk eviction`() async throws {
    let store = SQLiteStore(folder: folder.url, limit: 2 << 20)
    for index in 0..<20 { store.put(Self.large("/old\(index)")) }
    await store.flush()
    try forgetUses()
    for index in 7...9 { store.recordUse(Sample.key("/old\(index)"), Sample.head().variant) }
    // Stops when about ten of the twenty entries are evicted.
    for index in 0..<200 {
      store.put(Self.large("/\(index)"))
      if await store.size().entries < index + 12 { break }
    }
    let left = Set(await store.list().map(\.key))
    let areLeft = (0..<10).map { left.contains(Sample.key("/old\($0)")) }
    #expect(areLeft == Array(repeating: false, count: 7) + Array(repeating: true, count: 3))
  }

  private static func large(_ path: String) -> CacheEntry {
    CacheEntry(key: Sample.key(path), head: Sample.head(), body: Sample.bytes(20_000))
  }

  @Test(arguments: [false, true]) func `store below is notified once a minute`(_ isMemoryOnly: Bool) {
    var entries = MemoryEntries(limit: 1 << 20, entryLimit: 1 << 20)
    var gone: [MemoryEntries.Item] = []
    let (key, head) = (Sample.key("/a"), Sample.head(isMemoryOnly: isMemoryOnly))
    let item = MemoryEntries.Item(
      body: Data(), decoded: DecodedValues { _, _ in false }, cost: 1, lastUse: WallTime(milliseconds: 0))
    entries.put(key, head, item, gone: &gone)
    // The last time is that of a clock that was set back.
    let told = [59_999, 60_000, 60_001, 119_999, 120_000, 1_000].map { time in
      entries.use(key, 0, expected: head, now: WallTime(milliseconds: time))?.mustBeReported
    }
    #expect(told == (isMemoryOnly ? Array(repeating: false, count: 6) : [false, true, false, false, true, true]))
  }

  @Test func `recorded uses are limited`() {
    var uses = PendingUses()
    for entry in 0..<10_000 {
      uses.record(PendingUses.Place(entry: Int64(entry), variant: 0), at: WallTime(milliseconds: 1))
    }
    let first = PendingUses.Place(entry: 0, variant: 0)
    for time in [9, 5] { uses.record(first, at: WallTime(milliseconds: Int64(time))) }
    let taken = uses.take()
    #expect(taken.count == 8_192 && taken[first]?.milliseconds == 9)
    #expect(uses.times.isEmpty)
  }
}
