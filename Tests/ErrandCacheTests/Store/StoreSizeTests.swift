import ErrandCore
import ErrandTesting
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// The disk space that a store uses.
struct StoreSizeTests {
  struct Load: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let limit: Int
    let lengths: ClosedRange<Int>
    let puts: Int
  }

  private static let loads = [
    Load(testDescription: "small bodies", limit: 1 << 20, lengths: 0...2_000, puts: 3_000),
    Load(testDescription: "inline bodies", limit: 2 << 20, lengths: 5_000...30_000, puts: 600),
    Load(testDescription: "files", limit: 4 << 20, lengths: 70_000...190_000, puts: 200),
    Load(testDescription: "everything", limit: 8 << 20, lengths: 0...380_000, puts: 300),
  ]

  @Test(arguments: loads) func `disk use stays within limit`(_ load: Load) async {
    let folder = TestFolder()
    let store = SQLiteStore(folder: folder.url, limit: load.limit)
    var random = SeededNumbers(seed: UInt64(load.limit))
    var most = 0
    for index in 0..<load.puts {
      let length = Int.random(in: load.lengths, using: &random)
      store.put(
        CacheEntry(
          key: Sample.key("/\(Int.random(in: 0..<4_000, using: &random))"), head: Sample.head(),
          body: Sample.bytes(length / 8, seed: UInt64(index)) + Data(count: length - length / 8)))
      most = max(most, folder.bytes)
      if index % 40 == 0 { await store.flush() }
      if index % 100 == 99 { store.remove(.key(Sample.key("/\(Int.random(in: 0..<4_000, using: &random))"))) }
    }
    await store.flush()
    most = max(most, folder.bytes)
    #expect(most <= load.limit + load.limit / 10)
    // Without this check, a cache that discards everything would pass, too.
    #expect(most > load.limit / 2)
    #expect(await store.size().entries > 3)
    #expect(abs(await store.size().bytes - folder.bytes) <= 4_096)
  }

  @Test func `blocked log stays within its limit`() async throws {
    let folder = TestFolder()
    let limit = 2 << 20
    let store = SQLiteStore(folder: folder.url, limit: limit)
    store.put(Sample.entry("/old"))
    await store.flush()
    let reader = try SQLiteDatabase(path: StoreFolder(folder.url).index, isReadOnly: true) { true }
    try reader.run("BEGIN")
    #expect(try reader.number("SELECT count(*) FROM entry") == 1)
    for index in 0..<100 {
      store.put(CacheEntry(key: Sample.key("/\(index)"), head: Sample.head(), body: Sample.bytes(20_000)))
      if index % 10 == 9 { await store.flush() }
    }
    store.remove(.key(Sample.key("/old")))
    await store.flush()
    #expect(folder.logBytes <= limit / 8 * 3)
    #expect(await store.isMissing(Sample.key("/old")))
    try reader.run("COMMIT")
    store.put(Sample.entry("/new"))
    await store.flush()
    #expect(await store.text(Sample.key("/new")) == "body")
    #expect(folder.bytes <= limit + limit / 10)
  }

  @Test func `clock set back keeps the eviction order`() async throws {
    let folder = TestFolder()
    let store = SQLiteStore(folder: folder.url, limit: 2 << 20)
    for index in 0..<20 {
      store.put(CacheEntry(key: Sample.key("/old\(index)"), head: Sample.head(), body: Sample.bytes(20_000)))
    }
    await store.flush()
    let index = try SQLiteDatabase(path: StoreFolder(folder.url).index) { true }
    try index.run("UPDATE entry SET last_use = last_use + 86400000")
    for name in ["/old7", "/old8", "/old9"] { #expect(await !store.isMissing(Sample.key(name))) }
    let uses = await store.list().filter { $0.lastUse < WallTime.now.advanced(byMilliseconds: 3_600_000) }
    #expect(
      Set(uses.map(\.key)) == Set(["/old7", "/old8", "/old9"].map { Sample.key($0) }),
      "these entries were used after the clock change")
    for index in 0..<200 {
      store.put(CacheEntry(key: Sample.key("/\(index)"), head: Sample.head(), body: Sample.bytes(20_000)))
      if index % 10 == 9 { await store.flush() }
    }
    for index in 0..<20 { #expect(await store.isMissing(Sample.key("/old\(index)"))) }
    #expect(await !store.isMissing(Sample.key("/199")))
  }

  @Test func `smaller limit takes effect`() async {
    let folder = TestFolder()
    let large = SQLiteStore(folder: folder.url, limit: 16 << 20)
    for index in 0..<100 {
      large.put(CacheEntry(key: Sample.key("/\(index)"), head: Sample.head(), body: Sample.bytes(index * 1_000)))
      // Flushes often, because the backlog has a separate limit.
      if index % 20 == 19 { await large.flush() }
    }
    await large.close()
    #expect(folder.bytes > 4 << 20)
    let small = SQLiteStore(folder: folder.url, limit: 2 << 20)
    small.put(Sample.entry("/new"))
    await small.flush()
    #expect(folder.bytes <= 2 << 20)
    #expect(await small.text(Sample.key("/new")) == "body")
    #expect(await !small.isMissing(Sample.key("/99")))
  }

  @Test func `emptied store frees disk space`() async {
    let folder = TestFolder()
    let store = SQLiteStore(folder: folder.url, limit: 64 << 20)
    for index in 0..<300 {
      store.put(CacheEntry(key: Sample.key("/\(index)"), head: Sample.head(), body: Sample.bytes(20_000 + index * 200)))
    }
    await store.flush()
    #expect(folder.bytes > 8 << 20)
    store.remove(.all)
    #expect(await store.size().entries == 0)
    #expect(folder.bytes < 200_000)
    #expect(await store.size().bytes == folder.bytes)
  }

  @Test(arguments: [Int64.min, -1, .max]) func `impossible sizes are tolerated`(_ bytes: Int64) async throws {
    let folder = TestFolder()
    let limit = 4 << 20
    let store = SQLiteStore(folder: folder.url, limit: limit)
    for index in 0..<8 { store.put(Self.filed(index)) }
    await store.close()
    do {
      let database = try SQLiteDatabase(path: StoreFolder(folder.url).index) { true }
      try database.run("UPDATE entry SET size = \(bytes)")
      try database.run("UPDATE state SET file_bytes = \(bytes)")
    }
    let reopened = SQLiteStore(folder: folder.url, limit: limit)
    #expect(await reopened.size().entries == 8)
    reopened.remove(.key(Sample.key("/0")))
    reopened.put(Self.filed(1))
    await reopened.flush()
    #expect(await reopened.size().entries == 7)
    for index in 8..<80 {
      reopened.put(Self.filed(index))
      if index % 8 == 0 { await reopened.flush() }
    }
    await reopened.flush()
    #expect(folder.bytes <= limit + limit / 10)
    #expect(abs(await reopened.size().bytes - folder.bytes) <= 4_096)
    #expect(await !reopened.isMissing(Sample.key("/79")))
  }

  /// An entry whose body is stored in a file.
  private static func filed(_ index: Int) -> CacheEntry {
    CacheEntry(key: Sample.key("/\(index)"), head: Sample.head(), body: Sample.bytes(100_000, seed: UInt64(index + 1)))
  }

  @Test func `space decision respects all limits`() {
    let settings = StoreSettings(
      folder: URL(filePath: "/nowhere"), limit: 10 << 20, entryLimit: nil, sealing: nil)
    let free = settings.contentLimit
    var space = StoreSpace(
      settings: settings, pages: 100, freePages: 0, indexBytes: 0, logBytes: 0, fileBytes: free - 100 * 4_096)
    #expect(space.holds(.none) && space.fits(.none) && !space.isTrimmed(.none))
    space.fileBytes += 1
    #expect(!space.holds(.none))
    space.freePages = 1
    #expect(space.holds(.none) && !space.fits(.none) && space.excessPages(.none) == 1)
    space.freePages = 0
    space.fileBytes -= 1
    space.logBytes = settings.logLimit
    #expect(space.fits(.none))
    space.logBytes += 1
    #expect(!space.fits(.none))
    space.logBytes = 0
    space.indexBytes = 101 * 4_096
    #expect(space.holds(.none) && !space.fits(.none))
  }
}
