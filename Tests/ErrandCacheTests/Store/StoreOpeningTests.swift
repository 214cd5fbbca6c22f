import ErrandCore
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// A store that cannot be opened when an entry is put.
struct StoreOpeningTests {
  private let folder = TestFolder()

  private func store() -> SQLiteStore { SQLiteStore(folder: folder.url, limit: 4 << 20) }

  private func fill() async {
    let store = store()
    store.put(Sample.entry("/a", body: "old"))
    await store.close()
  }

  @Test func `busy database loses no writes`() async throws {
    await fill()
    let storeFolder = StoreFolder(folder.url)
    // A recorded removal, so that opening the store must write.
    #expect(storeFolder.journal.write([.host("c.example.com")]) != nil)
    let other = try SQLiteDatabase(path: storeFolder.index) { true }
    try other.run("BEGIN IMMEDIATE")
    let store = store()
    store.put(Sample.entry("/a", body: "new", head: Sample.head(time: 2_000)))
    store.remove(.host("b.example.com"))
    while await store.removals(call: CallState(), patience: .zero) != .noted { await Task.yield() }
    try other.run("ROLLBACK")
    // A store that is being closed gives a write up that was delayed for five seconds.
    await store.flush()
    await store.close()
    #expect(await self.store().text(Sample.key("/a")) == "new")
  }

  /// A store whose folder was unavailable when a newer version of its only entry was put.
  private func storeAfterLostWrite(_ variant: String = "") async throws -> SQLiteStore {
    await fill()
    let away = TestFolder()
    try FileManager.default.moveItem(at: folder.url, to: away.url)
    try Data("file".utf8).write(to: folder.url)
    let store = store()
    store.put(Sample.entry("/a", body: "new", head: Sample.head(variant: variant, time: 2_000)))
    await store.flush()
    try FileManager.default.removeItem(at: folder.url)
    try FileManager.default.moveItem(at: away.url, to: folder.url)
    return store
  }

  private func expectNothing(in store: SQLiteStore) async {
    var found = await store.newest(Sample.key("/a"))
    while case .unavailable = found { found = await store.newest(Sample.key("/a")) }
    guard case .missing = found else {
      Issue.record("the older entry is found")
      return
    }
  }

  @Test(arguments: ["", "other"]) func `lost write removes the older entry`(_ variant: String) async throws {
    await expectNothing(in: try await storeAfterLostWrite(variant))
  }

  /// A removal that failed is recorded only if the index holds selected entries.
  @Test func `key without entries is not held`() async {
    let mailbox = StoreMailbox(StoreSettings(folder: folder.url, limit: 1 << 20, entryLimit: nil, sealing: nil))
    mailbox.write { $0.put(Sample.entry("/a")) }
    let held = await withCheckedContinuation { continuation in
      mailbox.barrier { worker in
        let keys = ["/a", "/b"].map { CacheSelection.key(Sample.key($0)) }
        let held = try? worker?.using { index throws(SQLiteFailure) in try index.held(keys) }
        continuation.resume(returning: held ?? [])
      }
    }
    #expect(held == [.key(Sample.key("/a"))])
    mailbox.close()
    await mailbox.ended()
  }

  @Test(arguments: [true, false]) func `locked older entry stays hidden`(_ isPutAgain: Bool) async throws {
    let store = try await storeAfterLostWrite()
    let other = try SQLiteDatabase(path: StoreFolder(folder.url).index) { true }
    try other.run("BEGIN IMMEDIATE")
    await expectNothing(in: store)
    #expect(await store.list().isEmpty)
    if isPutAgain { store.put(Sample.entry("/a", body: "newest", head: Sample.head(time: 3_000))) }
    try other.run("ROLLBACK")
    await store.close()
    let next = self.store()
    #expect(await next.list().count == (isPutAgain ? 1 : 0))
    #expect(await next.text(Sample.key("/a")) == (isPutAgain ? "newest" : nil))
  }
}
