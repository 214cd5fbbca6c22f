import ErrandCache
import Foundation
import Testing

/// Stores in processes that are killed, that share a folder, and that have no disk.
@Suite(.serialized) struct StoreProcessTests {
  @Test func `killed writers leave whole entries`() async throws {
    let folder = TestFolder()
    let limit = 8 << 20
    var found = 0
    var random = SystemRandomNumberGenerator()
    for round in 0..<Setting.number("ERRAND_CACHE_KILLS", 30) {
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
    let folder = TestFolder()
    let seconds = UInt64(Setting.number("ERRAND_CACHE_SECONDS", 4))
    let limit = 2 << 20
    let one = try Crasher("race", folder.url, limit: limit, number: seconds << 8 | 1)
    let two = try Crasher("race", folder.url, limit: limit, number: seconds << 8 | 2)
    async let first = one.finish()
    async let second = two.finish()
    for end in await [first, second] {
      #expect(end.status == 0, "\(end.lines)")
      #expect(!end.lines.contains("damaged"))
    }
    #expect(folder.bytes <= limit + limit / 10)
  }

  @Test func `full disk costs hits alone`() async throws {
    let folder = TestFolder()
    let end = try await Crasher("full", folder.url, limit: 4 << 20, number: 5).finish()
    #expect(end.status == 0, "\(end.lines)")
    #expect(end.lines == ["well again"])
  }

  @Test func `files are private whatever the mask`() async throws {
    let folder = TestFolder()
    #expect(try await Crasher("open", folder.url, limit: 4 << 20, number: 5).finish().status == 0)
    #expect(try folder.permissions(folder.url) == 0o700)
    let files = folder.files
    #expect(files.count >= 5)
    for file in files { #expect(try folder.permissions(file) == 0o600, "\(file.lastPathComponent)") }
    #expect(try folder.permissions(folder.url.appending(path: "errand-cache.bodies")) == 0o700)
  }
}
