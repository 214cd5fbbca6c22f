import ErrandCore
import ErrandSupport
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// Removals that are not applied when the process ends.
struct RemovalJournalTests {
  private let folder = TestFolder()

  private var journal: RemovalJournal { RemovalJournal(folder: folder.url.path(percentEncoded: false)) }

  private static func journalFiles(in folder: TestFolder) -> [URL] {
    folder.files.filter { $0.lastPathComponent.hasPrefix("errand-cache.owed-") }
  }

  /// A store with one entry for each of two accounts, from different hosts.
  private func filled() async -> SQLiteStore {
    let store = SQLiteStore(folder: folder.url, limit: 4 << 20)
    let head = Sample.head(time: 1_000, host: "a.example.com", tag: "feed", groups: "\"news\"")
    store.put(Sample.entry("/a", account: "ada", head: head))
    store.put(Sample.entry("/b", account: "eve", head: Sample.head(time: 9_000, host: "b.example.com")))
    await store.flush()
    return store
  }

  private static func left(_ store: SQLiteStore) async -> [String] {
    var left: [String] = []
    for (path, account) in [("/a", "ada"), ("/b", "eve")] {
      if await store.text(Sample.key(path, account: account)) != nil { left.append(path) }
    }
    return left
  }

  private static let purges: [CacheSelection] = [
    .account(Sample.digest("account ada")), .host("a.example.com"), .tag("feed"),
    .olderThan(WallTime(milliseconds: 5_000)), .group(CacheGroup(origin: "https://a.example.com", name: "news")),
  ]

  @Test(arguments: purges) func `busy store's removal survives the process`(_ selection: CacheSelection) async throws {
    let store = await filled()
    let other = try SQLiteDatabase(path: StoreFolder(folder.url).index) { true }
    try other.run("BEGIN IMMEDIATE")
    store.remove(selection)
    while await store.removals(call: CallState(), patience: .zero) != .noted { await Task.yield() }
    #expect(await Self.left(store) == ["/b"])
    let copy = TestFolder()
    try FileManager.default.copyItem(at: folder.url, to: copy.url)
    #expect(Self.journalFiles(in: copy).count == 1)
    let next = SQLiteStore(folder: copy.url, limit: 4 << 20)
    #expect(await Self.left(next) == ["/b"])
    #expect(Self.journalFiles(in: copy).isEmpty)
    try other.run("ROLLBACK")
    #expect(await store.removals(call: CallState(), patience: .seconds(30)) == .done)
    #expect(await Self.left(store) == ["/b"])
    await store.close()
    #expect(Self.journalFiles(in: folder).isEmpty)
  }

  @Test func `countless purges survive the process`() async throws {
    let store = await filled()
    let other = try SQLiteDatabase(path: StoreFolder(folder.url).index) { true }
    try other.run("BEGIN IMMEDIATE")
    for index in 0..<1_500 { store.remove(.tag("tag \(index)")) }
    store.remove(.tag("feed"))
    while await store.removals(call: CallState(), patience: .zero) != .noted { await Task.yield() }
    #expect(await Self.left(store) == ["/b"])
    let copy = TestFolder()
    try FileManager.default.copyItem(at: folder.url, to: copy.url)
    #expect(await Self.left(SQLiteStore(folder: copy.url, limit: 4 << 20)) == ["/b"])
    try other.run("ROLLBACK")
    #expect(await store.removals(call: CallState(), patience: .seconds(30)) == .done)
    #expect(await Self.left(store) == ["/b"])
    await store.close()
    #expect(Self.journalFiles(in: folder).isEmpty)
  }

  @Test func `running store's journal file is kept`() async throws {
    await filled().close()
    let (first, later) = (StoreHold(), StoreHold())
    let sealing = BodySealing(seal: { first.isReached ? later.pass($0) : first.pass($0) }, open: { $0 })
    let store = SQLiteStore(folder: folder.url, limit: 4 << 20, sealing: sealing)
    let other = try SQLiteDatabase(path: StoreFolder(folder.url).index) { true }
    store.put(Sample.entry("/hold", account: "ada", body: "hold"))
    await first.reached()
    try other.run("BEGIN IMMEDIATE")
    store.remove(.account(Sample.digest("account ada")))
    first.open()
    while await store.removals(call: CallState(), patience: .zero) != .noted { await Task.yield() }
    await later.reached()
    try other.run("ROLLBACK")
    #expect(await Self.left(SQLiteStore(folder: folder.url, limit: 4 << 20)) == ["/b"])
    // If the process ended now, only the journal file would remove the entry that it is about to write.
    #expect(Self.journalFiles(in: folder).count == 1)
    later.open()
    await store.close()
    #expect(Self.journalFiles(in: folder).isEmpty)
  }

  @Test func `earlier process's journal file is applied`() async throws {
    await filled().close()
    #expect(journal.write([.account(Sample.digest("account eve"))]) != nil)
    #expect(journal.write([.tag("feed"), .host("c.example.com")]) != nil)
    for file in Self.journalFiles(in: folder) { #expect(try folder.permissions(file) == 0o600) }
    let store = SQLiteStore(folder: folder.url, limit: 4 << 20)
    #expect(await Self.left(store).isEmpty)
    #expect(Self.journalFiles(in: folder).isEmpty)
    store.put(Sample.entry("/b", account: "eve"))
    await store.close()
    #expect(await Self.left(SQLiteStore(folder: folder.url, limit: 4 << 20)) == ["/b"])
  }

  @Test func `journal contains no account names`() throws {
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    let salt = Sample.digest("salt")
    #expect(journal.write([PendingRemovals.Removal.account(ByteText("ada@example.com")).selection(salt: salt)]) != nil)
    #expect(try folder.filesWith("ada@example.com").isEmpty)
  }

  private static let damages: [(name: String, change: @Sendable (Data) -> Data)] = [
    ("empty", { _ in Data() }), ("magic alone", { $0.prefix(4) }), ("cut", { $0.dropLast() }),
    ("longer", { $0 + Data([0]) }), ("other version", { Data("ERO2".utf8) + $0.dropFirst(4) }),
    ("flipped", { $0.prefix(16) + Data([$0[16] ^ 1]) + $0.dropFirst(17) }), ("text", { _ in Data("hello".utf8) }),
    ("too large", { _ in Data(count: 17 << 20) }),
  ]

  @Test(arguments: damages.indices) func `damaged journal file removes everything`(_ index: Int) async throws {
    let (name, change) = Self.damages[index]
    await filled().close()
    #expect(journal.write([.tag("feed")]) != nil)
    let file = try #require(Self.journalFiles(in: folder).first)
    try change(Data(contentsOf: file)).write(to: file)
    let store = SQLiteStore(folder: folder.url, limit: 4 << 20)
    #expect(await Self.left(store).isEmpty, "\(name)")
    #expect(Self.journalFiles(in: folder).isEmpty, "\(name)")
    store.put(Sample.entry("/b", account: "eve"))
    await store.flush()
    #expect(await Self.left(store) == ["/b"], "\(name)")
  }

  @Test func `unreadable journal file removes nothing`() {
    var journaled = RemovalJournal.JournalContents()
    let isFirstRead = journaled.add("a", .unreadable)
    #expect(!isFirstRead && journaled.names.isEmpty && journaled.removals.isEmpty)
    let contents: [SystemFile.Content] = [.missing, .tooLong, .bytes(Data("text".utf8))]
    let areRead = zip(["b", "c", "d"], contents).map { journaled.add($0, $1) }
    #expect(areRead == [true, true, true])
    #expect(journaled.names == ["c", "d"] && journaled.removals == [.all, .all])
    // Opening the file fails, which says nothing about its content.
    let path = folder.url.path(percentEncoded: false) + String(repeating: "a", count: 5_000)
    guard case .unreadable = SystemFile.content(path, atMost: 1) else {
      Issue.record("read")
      return
    }
  }

  @Test(arguments: ["short", "folder", "link"]) func `foreign item is not a journal file`(_ kind: String) async throws {
    await filled().close()
    let name = "errand-cache.owed-" + (kind == "short" ? "12" : String(repeating: "a", count: 32))
    let path = folder.url.appending(path: name)
    switch kind {
    case "folder": try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
    case "link":
      try FileManager.default.createSymbolicLink(at: path, withDestinationURL: folder.url.appending(path: "elsewhere"))
    default: try Data("text".utf8).write(to: path)
    }
    #expect(await Self.left(SQLiteStore(folder: folder.url, limit: 4 << 20)) == ["/a", "/b"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).contains(name))
  }

  @Test func `unrecorded removal is reported pending`() async throws {
    try Data("file".utf8).write(to: folder.url)
    let store = SQLiteStore(folder: folder.url.appending(path: "cache"))
    #expect(await store.removals(call: CallState(), patience: .seconds(30)) == .done)
    store.remove(.account(Sample.digest("account ada")))
    #expect(await store.removals(call: CallState(), patience: .seconds(30)) == .pending)
    let cache = ResponseCache(store: store)
    await cache.removeAll(account: "ada")
    #expect(await cache.removals() == .pending)
    try FileManager.default.removeItem(at: folder.url)
    while await store.list().isEmpty {
      store.put(Sample.entry("/b", account: "eve"))
    }
    #expect(await cache.removals(patience: .seconds(30)) == .done)
  }

  @Test(.timeLimit(.minutes(5))) func `polling retries a failed removal`() async throws {
    await filled().close()
    let away = TestFolder()
    try FileManager.default.moveItem(at: folder.url, to: away.url)
    try Data("file".utf8).write(to: folder.url)
    let store = SQLiteStore(folder: folder.url, limit: 4 << 20)
    store.remove(.account(Sample.digest("account ada")))
    let call = CallState()
    #expect(await store.removals(call: call, patience: .seconds(30)) == .pending)
    try FileManager.default.removeItem(at: folder.url)
    try FileManager.default.moveItem(at: away.url, to: folder.url)
    // Another process empties the folder, so the index cannot be opened, but the journal can be written.
    var lock = FileLock.alone(StoreFolder(folder.url).lock)
    #expect(lock != nil)
    while await store.removals(call: call, patience: .seconds(30)) == .pending { await Task.yield() }
    #expect(await store.removals(call: call, patience: .seconds(30)) == .noted)
    #expect(Self.journalFiles(in: folder).count == 1)
    lock = nil
    while await store.removals(call: call, patience: .seconds(30)) != .done { await Task.yield() }
    #expect(Self.journalFiles(in: folder).isEmpty)
    #expect(await Self.left(store) == ["/b"])
  }

  @Test func `unfinished journal file removes nothing`() async throws {
    await filled().close()
    let path = folder.url.appending(path: "errand-cache.owed-" + String(repeating: "a", count: 32))
    // The writer locks its file before it writes the content.
    var lock = FileLock.shared(path.path(percentEncoded: false))
    #expect(lock != nil)
    #expect(await Self.left(SQLiteStore(folder: folder.url, limit: 4 << 20)) == ["/a", "/b"])
    #expect(Self.journalFiles(in: folder).count == 1)
    lock = nil
    #expect(await Self.left(SQLiteStore(folder: folder.url, limit: 4 << 20)).isEmpty, "its writer has ended")
  }

  @Test func `every selection decodes unchanged`() throws {
    let key = Sample.key("/a", account: "ada")
    let all: [CacheSelection] = [
      .key(key), .variant(key, Sample.digest("variant")), .target(key.target), .account(key.account), .all,
      .host("a.example.com"), .tag("北"), .olderThan(WallTime(milliseconds: -7)),
      .group(CacheGroup(origin: "https://a.example.com", name: "news")),
    ]
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    let file = try #require(journal.write(all))
    let contents = try #require(journal.read(but: nil))
    #expect(contents.removals == all && contents.names == [file.name])
    #expect(journal.read(but: file.name)?.names == [])
    journal.removeAbandoned(contents.names)
    journal.empty()
    #expect(Self.journalFiles(in: folder).count == 1, "its writer is still running")
    journal.remove(file)
    #expect(Self.journalFiles(in: folder).isEmpty)
    #expect(journal.write(Array(repeating: .variant(key, key.target), count: 4_000)) != nil)
    #expect(journal.read(but: nil)?.removals.count == 4_000)
    journal.empty()
    #expect(journal.write([.tag(String(repeating: "x", count: 17 << 20))]) != nil)
    #expect(journal.read(but: nil)?.removals == [.all])
    journal.empty()
    #expect(Self.journalFiles(in: folder).isEmpty)
  }

  @Test func `missing folder records nothing`() {
    #expect(journal.write([.all]) == nil)
    #expect(journal.read(but: nil) == nil)
  }
}
