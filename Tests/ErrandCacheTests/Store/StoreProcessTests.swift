import ErrandCache
import ErrandTesting
import Foundation
import StoreSamples
import TestSupport
import Testing

/// Stores in processes that are killed, that share a folder, or that cannot write to the disk.
@Suite(.serialized) struct StoreProcessTests {
  /// Less than the total size of the processes' entries, so that the store must evict.
  private static let limit = 2 << 20

  /// A folder whose store is full and has evicted entries.
  private static func full() async throws -> TestFolder {
    let folder = TestFolder()
    let end = try await Crasher("fill", folder.url, limit: limit, number: 1).finish()
    try #require(end.status == 0, "\(end.lines)")
    try #require(folder.bytes > limit / 2)
    return folder
  }

  @Test func `killed writers leave complete entries`() async throws {
    let folder = try await Self.full()
    let limit = Self.limit
    var found = 0
    var random = SeededNumbers(seed: 1)
    // A sanitized process takes seconds to start and is killed before it ends.
    for round in 0..<Setting.number("ERRAND_CACHE_KILLS", isSanitized ? 5 : 30) {
      let crasher = try Crasher("write", folder.url, limit: limit, number: UInt64(round + 1))
      var left = Int.random(in: 1..<12, using: &random)
      var said: [String] = []
      for await line in crasher.lines {
        said.append(line)
        if line.hasPrefix("ready ") { found += Int(line.dropFirst(6)) ?? 0 }
        left -= 1
        if left == 0 { break }
      }
      await crasher.kill()
      try #require(said.first?.hasPrefix("ready ") == true, "round \(round): \(said.first ?? "nothing")")
      #expect(!said.contains("damaged") && !said.contains("wrong body"))
      #expect(folder.bytes <= limit + limit / 10)
    }
    #expect(found > 0)
  }

  @Test func `two processes share a folder`() async throws {
    let folder = try await Self.full()
    let seconds = UInt64(Setting.number("ERRAND_CACHE_SECONDS", 4))
    let limit = Self.limit
    let one = try Crasher("race", folder.url, limit: limit, number: seconds << 8 | 1)
    let two = try Crasher("race", folder.url, limit: limit, number: seconds << 8 | 2)
    // While one process reads, the other cannot restart the log. Both keep it to about twice its maximum.
    let largest = Task {
      var (largest, log) = (folder.bytesBesideLog, 0)
      while !Task.isCancelled {
        (largest, log) = (max(largest, folder.bytesBesideLog), max(log, folder.logBytes))
        await Task.yield()
      }
      return (largest, log)
    }
    async let first = one.finish()
    async let second = two.finish()
    for end in await [first, second] {
      #expect(end.status == 0, "\(end.lines)")
      #expect(!end.lines.contains("damaged"))
    }
    largest.cancel()
    let (besideLog, log) = await largest.value
    #expect(besideLog <= limit + limit / 10)
    #expect(log <= limit / 8 * 3, "the log was \(log) bytes")
    let store = SQLiteStore(folder: folder.url, limit: limit)
    store.put(Sample.entry("/after"))
    await store.flush()
    await store.close()
    #expect(folder.bytes <= limit + limit / 10)
  }

  @Test func `full disk costs only hits`() async throws {
    let folder = TestFolder()
    let end = try await Crasher("full", folder.url, limit: 4 << 20, number: 5).finish()
    #expect(end.status == 0, "\(end.lines)")
    #expect(end.lines == ["well again"])
  }

  @Test func `read-only folder costs only hits`() async throws {
    let folder = try await Self.full()
    let end = try await Crasher("readonly", folder.url, limit: Self.limit, number: 5).finish()
    #expect(end.status == 0, "\(end.lines)")
    #expect(["well again", "no other user"].contains(end.lines.joined(separator: ", ")))
  }

  @Test func `files are private under any umask`() async throws {
    let folder = TestFolder()
    #expect(try await Crasher("open", folder.url, limit: 4 << 20, number: 5).finish().status == 0)
    #expect(try folder.permissions(folder.url) == 0o700)
    let files = folder.files
    #expect(files.count >= 5)
    for file in files { #expect(try folder.permissions(file) == 0o600, "\(file.lastPathComponent)") }
    #expect(try folder.permissions(folder.url.appending(path: "errand-cache.bodies")) == 0o700)
  }
}
