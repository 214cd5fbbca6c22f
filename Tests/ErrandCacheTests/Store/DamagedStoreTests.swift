import ErrandCache
import ErrandCore
import ErrandTesting
import Foundation
import StoreSamples
import Testing

/// Folders whose files were changed from outside.
struct DamagedStoreTests {
  private let folder = TestFolder()

  private func body(_ index: Int) -> Data {
    Sample.bytes(index % 4 == 0 ? 70_000 + index : 300 * index, seed: UInt64(index + 1))
  }

  private func fill() async { await fill { await $0.close() } }

  /// A copy of the folder as after a crash: the last writes are only in the log.
  private func crashed() async throws -> TestFolder {
    let copy = TestFolder()
    try await fill { store in
      try FileManager.default.copyItem(at: folder.url, to: copy.url)
      await store.close()
    }
    return copy
  }

  private func filled(_ isCrashed: Bool) async throws -> TestFolder {
    if isCrashed { return try await crashed() }
    await fill()
    return folder
  }

  private func fill(_ end: (SQLiteStore) async throws -> Void) async rethrows {
    let store = SQLiteStore(folder: folder.url, limit: 8 << 20)
    for index in 0..<40 {
      store.put(CacheEntry(key: Sample.key("/\(index)"), head: Sample.head(), body: body(index)))
    }
    await store.flush()
    try await end(store)
  }

  /// Reads everything and accepts only correct bodies or misses; then writes an entry and finds it.
  private func expectOnlyMisses(_ what: String, in folder: TestFolder) async -> Int {
    let store = SQLiteStore(folder: folder.url, limit: 8 << 20)
    var found = 0
    for index in 0..<40 {
      switch await store.newest(Sample.key("/\(index)")) {
      case .found(let entry):
        found += 1
        #expect(entry.body == body(index) && entry.head == Sample.head(), "\(what): wrong response")
      case .missing, .damaged: break
      case .unavailable, .refused: Issue.record("\(what): unavailable")
      }
    }
    store.put(Sample.entry("/again", body: what))
    await store.flush()
    // Damage that is detected only now costs this entry; the next one is stored.
    if await store.text(Sample.key("/again")) == nil {
      store.put(Sample.entry("/again", body: what))
      await store.flush()
    }
    #expect(await store.text(Sample.key("/again")) == what)
    await store.close()
    return found
  }

  @Test(arguments: 0..<Setting.number("ERRAND_CACHE_DAMAGES", 24)) func `flipped bytes cost only hits`(_ seed: Int)
    async throws
  {
    let isCrashed = seed % 2 == 1
    let folder = try await filled(isCrashed)
    var random = SeededNumbers(seed: UInt64(seed))
    let files = folder.files.sorted { $0.path < $1.path }
    let index = files.filter { $0.lastPathComponent.hasPrefix("errand-cache.sqlite") }
    let choice = isCrashed ? index : seed % 3 == 0 ? Array(index.prefix(1)) : files
    let file = choice[Int.random(in: choice.indices, using: &random)]
    var bytes = try Data(contentsOf: file)
    guard !bytes.isEmpty else { return }
    for _ in 0..<Int.random(in: 1...40, using: &random) {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    try overwrite(file, bytes)
    _ = await expectOnlyMisses("\(file.lastPathComponent), seed \(seed)", in: folder)
  }

  @Test(arguments: 0..<Setting.number("ERRAND_CACHE_DAMAGES", 12)) func `truncated files cost only hits`(_ seed: Int)
    async throws
  {
    let folder = try await filled(seed % 2 == 1)
    var random = SeededNumbers(seed: UInt64(seed))
    for file in folder.files.sorted(by: { $0.path < $1.path }) {
      let bytes = try Data(contentsOf: file)
      guard !bytes.isEmpty, Bool.random(using: &random) else { continue }
      try overwrite(file, bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
    }
    _ = await expectOnlyMisses("seed \(seed)", in: folder)
  }

  @Test(arguments: [false, true]) func `undamaged folder keeps everything`(_ isCrashed: Bool) async throws {
    let folder = try await filled(isCrashed)
    let log = (try? Data(contentsOf: folder.url.appending(path: "errand-cache.sqlite-wal"))) ?? Data()
    #expect(!isCrashed || !log.isEmpty)
    #expect(await expectOnlyMisses("nothing", in: folder) == 40)
  }

  @Test(
    arguments: [
      "errand-cache.sqlite", "errand-cache.sqlite-wal", "errand-cache.sqlite-shm", "errand-cache.salt",
      "errand-cache.lock",
    ], [false, true])
  func `missing file costs only hits`(_ name: String, _ isCrashed: Bool) async throws {
    let folder = try await filled(isCrashed)
    try? FileManager.default.removeItem(at: folder.url.appending(path: name))
    _ = await expectOnlyMisses(name, in: folder)
  }

  @Test(arguments: ["errand-cache.sqlite", "errand-cache.bodies"], ["folder", "link", "text", "empty"])
  func `foreign item is renamed`(_ name: String, _ kind: String) async throws {
    let path = folder.url.appending(path: name)
    let files = FileManager.default
    try files.createDirectory(at: folder.url, withIntermediateDirectories: true)
    switch kind {
    case "folder":
      try files.createDirectory(at: path, withIntermediateDirectories: true)
      try Data("x".utf8).write(to: path.appending(path: "x"))
    case "link": try files.createSymbolicLink(at: path, withDestinationURL: folder.url.appending(path: "elsewhere"))
    case "text": try Data(repeating: 65, count: 9_000).write(to: path)
    default: try Data().write(to: path)
    }
    let store = SQLiteStore(folder: folder.url)
    #expect(await store.isMissing(Sample.key("/a")) || kind == "text")
    store.put(Sample.entry("/a"))
    store.put(CacheEntry(key: Sample.key("/b"), head: Sample.head(), body: Sample.bytes(100_000)))
    await store.close()
    let again = SQLiteStore(folder: folder.url)
    #expect(await again.text(Sample.key("/a")) == "body")
    #expect(await !again.isMissing(Sample.key("/b")))
    #expect(!files.fileExists(atPath: folder.url.appending(path: "elsewhere").path))
  }

  /// The database header has the user version at byte 60 and the application identifier at byte 68.
  @Test(arguments: [60, 68]) func `index of another version is recreated`(_ offset: Int) async throws {
    await fill()
    let file = folder.url.appending(path: "errand-cache.sqlite")
    let store = SQLiteStore(folder: folder.url)
    store.remove(.key(Sample.key("/0")))
    store.remove(.account(Sample.digest("nobody")))
    await store.close()
    var bytes = try Data(contentsOf: file)
    bytes[offset + 3] &+= 1
    try overwrite(file, bytes)
    #expect(await expectOnlyMisses("other version", in: folder) == 0)
    let bodies = folder.url.appending(path: "errand-cache.bodies").path
    #expect(try FileManager.default.contentsOfDirectory(atPath: bodies).isEmpty)
  }

  @Test func `open store is not emptied by others`() async throws {
    await fill()
    let first = SQLiteStore(folder: folder.url, limit: 8 << 20)
    #expect(await !first.isMissing(Sample.key("/4")))
    let file = folder.url.appending(path: "errand-cache.sqlite")
    var bytes = try Data(contentsOf: file)
    bytes[63] &+= 1
    try overwrite(file, bytes)
    let second = SQLiteStore(folder: folder.url, limit: 8 << 20)
    for _ in 0..<3 {
      guard case .unavailable = await second.newest(Sample.key("/4")) else {
        Issue.record("not unavailable")
        return
      }
    }
    #expect(try Data(contentsOf: file) == bytes)
    await first.close()
    let start = MonotonicInstant.now
    while await !second.isMissing(Sample.key("/4")), start.duration(to: .now) < .seconds(60) { await Task.yield() }
    second.put(Sample.entry("/a"))
    await second.flush()
    #expect(await second.text(Sample.key("/a")) == "body")
  }

  @Test func `damaged body is removed`() async throws {
    await fill()
    let bodies = folder.url.appending(path: "errand-cache.bodies")
    for name in try FileManager.default.contentsOfDirectory(atPath: bodies.path) {
      var bytes = try Data(contentsOf: bodies.appending(path: name))
      bytes[100] ^= 1
      try overwrite(bodies.appending(path: name), bytes)
    }
    let store = SQLiteStore(folder: folder.url)
    guard case .damaged = await store.newest(Sample.key("/4")) else {
      Issue.record("not damaged")
      return
    }
    #expect(await store.isMissing(Sample.key("/4")))
    #expect(await !store.isMissing(Sample.key("/5")))
    for name in try FileManager.default.contentsOfDirectory(atPath: bodies.path) {
      try FileManager.default.removeItem(at: bodies.appending(path: name))
    }
    guard case .damaged = await store.newest(Sample.key("/8")) else {
      Issue.record("not damaged")
      return
    }
    #expect(await store.isMissing(Sample.key("/8")))
  }

  @Test func `folder below a file is unavailable`() async throws {
    try Data("file".utf8).write(to: folder.url)
    let store = SQLiteStore(folder: folder.url.appending(path: "cache"))
    store.put(Sample.entry("/a"))
    await store.flush()
    guard case .unavailable = await store.newest(Sample.key("/a")) else {
      Issue.record("not unavailable")
      return
    }
    store.remove(.all)
    #expect(await store.list().isEmpty)
    #expect(await store.size().entries == 0)
    #expect(await store.salt(call: CallState()) != nil)
    #expect(await !store.holdsForOthers(Sample.key("/a", account: "another")))
    #expect(try Data(contentsOf: folder.url) == Data("file".utf8))
  }

  /// Overwrites a part of a file, as damage would.
  private func overwrite(_ file: URL, _ bytes: Data) throws {
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: UInt64(bytes.count))
    try handle.seek(toOffset: 0)
    try handle.write(contentsOf: bytes)
    try handle.close()
  }
}
