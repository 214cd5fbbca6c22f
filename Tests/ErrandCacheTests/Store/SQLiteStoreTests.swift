import ErrandCore
import ErrandTesting
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

struct SQLiteStoreTests {
  private let folder = TestFolder()

  private func open(limit: Int = 64 << 20, entryLimit: Int? = nil, sealing: BodySealing? = nil) -> SQLiteStore {
    SQLiteStore(folder: folder.url, limit: limit, entryLimit: entryLimit, sealing: sealing)
  }

  @Test(arguments: [4, 200_000]) func `entries survive reopening`(_ length: Int) async throws {
    let entry = CacheEntry(key: Sample.key("/a"), head: Sample.head(), body: Sample.bytes(length))
    let first = open()
    first.put(entry)
    await first.close()
    #expect(await first.text(entry.key) == nil)
    guard case .found(let found) = await open().newest(entry.key) else {
      Issue.record("not found")
      return
    }
    #expect(found.head == entry.head && found.body == entry.body)
  }

  @Test func `closed store finds and stores nothing`() async throws {
    let store = open()
    store.put(Sample.entry("/a"))
    for _ in 0..<2 { await store.close() }
    store.put(Sample.entry("/b"))
    await store.flush()
    guard case .unavailable = await store.newest(Sample.key("/a")) else {
      Issue.record("found")
      return
    }
    #expect(await store.list().isEmpty)
    let unused = open()
    await unused.close()
    guard case .unavailable = await unused.newest(Sample.key("/a")) else {
      Issue.record("found")
      return
    }
    #expect(await open().list().map(\.key.entry) == [Sample.key("/a").entry])
  }

  @Test(arguments: [true, false]) func `removal after closing is pending`(_ isUsed: Bool) async {
    let store = open()
    if isUsed { store.put(Sample.entry("/a", account: "ada")) }
    await store.close()
    #expect(await store.removals(call: CallState(), patience: .seconds(30)) == .done)
    store.remove(.account(Sample.digest("account ada")))
    #expect(await store.removals(call: CallState(), patience: .seconds(30)) == .pending)
  }

  @Test func `lookups run between list slices`() async {
    let mailbox = StoreMailbox(StoreSettings(folder: folder.url, limit: 4 << 20, entryLimit: nil, sealing: nil))
    mailbox.write { for number in 0..<300 { $0.put(Sample.entry("/\(number)")) } }
    let events = Recorded<String>()
    let keys = await withCheckedContinuation { continuation in
      mailbox.barrier { worker in
        mailbox.read { if case .found = $0?.find(Sample.key("/7"), { _ in 0 }) { events.append("look-up") } }
        let list = worker?.list() ?? []
        events.append("list")
        continuation.resume(returning: list.map(\.key))
      }
    }
    #expect(events.all == ["look-up", "list"])
    #expect(keys.count == 300 && Set(keys) == Set((0..<300).map { Sample.key("/\($0)") }))
    mailbox.close()
    await mailbox.ended()
  }

  @Test func `stores of a folder share its salt`() async throws {
    let (first, second) = (open(), open())
    let salt = try #require(await first.salt(call: CallState()))
    #expect(await second.salt(call: CallState()) == salt)
    // A store that opens the folder later would make its salt the folder's salt.
    await first.close()
    await second.close()
    #expect(await SQLiteStore(folder: TestFolder().url).salt(call: CallState()) != salt)
    let file = folder.url.appending(path: "errand-cache.salt")
    var bytes = try Data(contentsOf: file)
    #expect(bytes.count == 40)
    bytes[3] ^= 1
    try bytes.write(to: file)
    let other = try #require(await open().salt(call: CallState()))
    #expect(other != salt)
    #expect(await open().salt(call: CallState()) == other)
  }

  @Test func `unreadable salt file is not replaced`() async throws {
    _ = try #require(await open().salt(call: CallState()))
    let file = folder.url.appending(path: "errand-cache.salt")
    let bytes = try Data(contentsOf: file)
    // Reading from a file that is open only for writing fails.
    let handle = try FileHandle(forWritingTo: file)
    #expect(StoreSalt.load(FileLock(dup(handle.fileDescriptor))) == nil)
    #expect(try Data(contentsOf: file) == bytes)
  }

  @Test func `nothing is opened before the first use`() async {
    let store = open()
    #expect(!FileManager.default.fileExists(atPath: folder.url.path))
    await store.flush()
    #expect(await store.isMissing(Sample.key("/a")))
    #expect(FileManager.default.fileExists(atPath: folder.url.path))
  }

  @Test func `memory-only entry is never written`() async throws {
    let store = open()
    store.put(Sample.entry("/a", body: "older marker"))
    await store.flush()
    #expect(try !folder.filesWith("older marker").isEmpty)
    let head = Sample.head(time: 2_000, host: "secret-marker", isMemoryOnly: true)
    store.put(Sample.entry("/a", body: "secret-marker", head: head))
    store.put(Sample.entry("/b", body: String(repeating: "secret-marker", count: 10_000), head: head))
    #expect(await store.isMissing(Sample.key("/a")))
    await store.close()
    #expect(try folder.filesWith("secret-marker").isEmpty)
    #expect(await open().isMissing(Sample.key("/a")))
  }

  @Test(arguments: [true, false]) func `renewal by memory-only head removes the entry`(_ flushed: Bool) async throws {
    let store = open()
    store.put(Sample.entry("/a", head: Sample.head(variant: "older", time: 500)))
    store.put(Sample.entry("/a"))
    store.put(Sample.entry("/b"))
    if flushed { await store.flush() }
    let head = Sample.head(time: 2_000, isMemoryOnly: true)
    store.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1_000), head: head)
    store.renew(Sample.key("/b"), stored: WallTime(milliseconds: 999), head: head)
    for _ in 0..<2 {
      #expect(await store.isMissing(Sample.key("/a")))
      await store.flush()
    }
  }

  @Test(arguments: [CacheSelection.all, .account(Sample.digest("account one"))])
  func `removed account is erased from disk`(_ selection: CacheSelection) async throws {
    let store = open()
    for index in 0..<50 {
      store.put(
        Sample.entry("/\(index)", account: "one", body: String(repeating: "secret-marker", count: 1 + index * 10)))
      store.put(Sample.entry("/\(index)", account: "two", body: String(repeating: "other", count: 1 + index * 10)))
    }
    store.put(Sample.entry("/large", account: "one", body: String(repeating: "secret-marker", count: 10_000)))
    await store.flush()
    #expect(try !folder.filesWith("secret-marker").isEmpty)
    store.remove(selection)
    await store.flush()
    #expect(try folder.filesWith("secret-marker").isEmpty)
    #expect(await store.text(Sample.key("/3", account: "two")) != nil || selection == .all)
  }

  @Test func `removal without free pages erases data`() async throws {
    let store = open()
    for index in 0..<20 { store.put(Sample.entry("/\(index)", account: "two")) }
    store.put(Sample.entry("/own", account: "one", body: "secret-marker"))
    for index in 20..<40 { store.put(Sample.entry("/\(index)", account: "two")) }
    await store.flush()
    #expect(try !folder.filesWith("secret-marker").isEmpty)
    store.remove(.account(Sample.digest("account one")))
    await store.flush()
    #expect(try folder.filesWith("secret-marker").isEmpty)
    #expect(await store.size().entries == 40)
  }

  @Test(arguments: [1, 10_000]) func `sealed bodies are not readable`(_ times: Int) async throws {
    let sealing = BodySealing(seal: { Data($0.map { $0 ^ 0x55 }) }, open: { Data($0.map { $0 ^ 0x55 }) })
    let text = String(repeating: "secret-marker", count: times)
    let store = open(sealing: sealing)
    store.put(Sample.entry("/a", body: text))
    await store.close()
    #expect(try folder.filesWith("secret-marker").isEmpty)
    let again = open(sealing: sealing)
    #expect(await again.text(Sample.key("/a")) == text)
    let plain = open()
    guard case .damaged = await plain.newest(Sample.key("/a")) else {
      Issue.record("a sealed body was served")
      return
    }
    #expect(await plain.isMissing(Sample.key("/a")))
  }

  @Test func `body that cannot be unsealed is damaged`() async throws {
    struct Refused: Error {}
    open(sealing: BodySealing(seal: { $0 }, open: { $0 })).put(Sample.entry("/a"))
    let store = open(sealing: BodySealing(seal: { _ in throw Refused() }, open: { _ in throw Refused() }))
    while await store.isMissing(Sample.key("/a")) { await Task.yield() }
    #expect(await store.size().entries == 0)
    store.put(Sample.entry("/b"))
    await store.flush()
    #expect(await store.isMissing(Sample.key("/b")))
  }

  @Test(arguments: ["", "other"]) func `oversized entry removes the older one`(_ variant: String) async throws {
    let store = open(limit: 4 << 20, entryLimit: 10_000)
    store.put(Sample.entry("/a", head: Sample.head(variant: variant)))
    await store.flush()
    store.put(CacheEntry(key: Sample.key("/a"), head: Sample.head(time: 2_000), body: Data(count: 10_001)))
    await store.flush()
    #expect(await store.isMissing(Sample.key("/a")))
    store.put(CacheEntry(key: Sample.key("/b"), head: Sample.head(time: 2_000), body: Data(count: 8_000)))
    await store.flush()
    #expect(await !store.isMissing(Sample.key("/b")))
  }

  @Test func `variants of one key are limited`() async {
    let store = open()
    for index in 0..<100 {
      store.put(Sample.entry("/a", head: Sample.head(variant: "\(index)", time: Int64(index))))
    }
    await store.flush()
    #expect(await store.heads(Sample.key("/a")).map(\.responseTime.milliseconds) == Array((68..<100).reversed()))
  }

  @Test(arguments: [4, 200_000]) func `stores on one folder see each other`(_ length: Int) async {
    let (one, two) = (open(), open())
    for round in 0..<20 {
      let entry = CacheEntry(
        key: Sample.key("/a"), head: Sample.head(time: Int64(round)), body: Sample.bytes(length, seed: UInt64(round)))
      one.put(entry)
      await one.flush()
      guard case .found(let found) = await two.newest(entry.key) else {
        Issue.record("not found in round \(round)")
        return
      }
      #expect(found.body == entry.body)
      two.remove(.key(entry.key))
      await two.flush()
      #expect(await one.isMissing(entry.key))
    }
  }

  @Test func `orphaned body files are removed`() async throws {
    await open().close()
    let bodies = folder.url.appending(path: "errand-cache.bodies")
    let store = open()
    store.put(CacheEntry(key: Sample.key("/a"), head: Sample.head(), body: Sample.bytes(100_000)))
    await store.flush()
    await store.close()
    let names = ["0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef.part", "x"]
    for name in names { try Data(count: 1_000).write(to: bodies.appending(path: name)) }
    let again = open()
    again.put(Sample.entry("/b"))
    await again.flush()
    #expect(try FileManager.default.contentsOfDirectory(atPath: bodies.path).count == 1)
    guard case .found(let found) = await again.newest(Sample.key("/a")) else {
      Issue.record("not found")
      return
    }
    #expect(found.body == Sample.bytes(100_000))
  }

  @Test func `replaced bodies leave no files`() async throws {
    let store = open()
    let bodies = folder.url.appending(path: "errand-cache.bodies").path
    for round in 0..<10 {
      store.put(
        CacheEntry(key: Sample.key("/a"), head: Sample.head(), body: Sample.bytes(100_000, seed: UInt64(round))))
      await store.flush()
      #expect(try FileManager.default.contentsOfDirectory(atPath: bodies).count == 1)
    }
    store.put(Sample.entry("/a"))
    await store.flush()
    #expect(try FileManager.default.contentsOfDirectory(atPath: bodies).isEmpty)
    store.put(CacheEntry(key: Sample.key("/b"), head: Sample.head(), body: Sample.bytes(100_000)))
    await store.flush()
    store.remove(.host("api.example.com"))
    await store.flush()
    #expect(try FileManager.default.contentsOfDirectory(atPath: bodies).isEmpty)
    #expect(await store.size().bytes < 1 << 20)
  }

  @Test func `last uses survive reopening`() async throws {
    let first = open()
    for path in ["/a", "/b", "/c"] { first.put(Sample.entry(path)) }
    await first.flush()
    let start = WallTime.now
    while WallTime.now.milliseconds < start.milliseconds + 2 { await Task.yield() }
    _ = await first.text(Sample.key("/a"))
    await first.close()
    #expect(await open().list().first?.key == Sample.key("/a"))
  }

  @Test func `missing folder is created again`() async throws {
    let store = open()
    store.put(Sample.entry("/a"))
    await store.flush()
    try FileManager.default.removeItem(at: folder.url)
    store.put(Sample.entry("/b"))
    await store.flush()
    let start = MonotonicInstant.now
    while start.duration(to: .now) < .seconds(60), await store.size().entries == 0 {
      store.put(Sample.entry("/b"))
      await store.flush()
    }
    #expect(await open().text(Sample.key("/b")) == "body")
  }

  @Test func `stopped call ends its lookup`() async {
    let store = open()
    store.put(Sample.entry("/a"))
    await store.flush()
    let call = CallState()
    call.stop(.cancelled)
    guard case .unavailable = await store.find(Sample.key("/a"), choosing: { _ in 0 }, call: call, patience: nil) else {
      Issue.record("found for a stopped call")
      return
    }
    #expect(call.openWaits == 0)
  }
}
