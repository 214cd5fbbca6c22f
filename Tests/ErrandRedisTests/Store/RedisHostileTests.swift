import ErrandCache
import ErrandCore
import ErrandSupport
import Foundation
import StoreSamples
import Testing

@testable import ErrandRedis

/// Servers whose replies never end.
struct RedisHostileTests {
  private static func page(_ cursor: Int, keys: Int) -> [UInt8] {
    let cursor = String(cursor)
    return Array("*2\r\n$\(cursor.utf8.count)\r\n\(cursor)\r\n:\(keys)\r\n".utf8)
  }

  private func store(_ server: ScriptedRedis) -> RedisStore {
    RedisStore(host: "127.0.0.1", port: server.port, settings: TestRedis.settings())
  }

  @Test func `endless scan is stopped`() async throws {
    let server = try #require(ScriptedRedis { Self.page($0, keys: 5) })
    let store = store(server)
    #expect(await store.size().entries == 0)
    #expect(server.commands == RedisWalk.leastRounds)
    #expect(await store.list().isEmpty)
  }

  @Test func `repeated cursors end a scan`() async throws {
    let server = try #require(ScriptedRedis { Self.page(1 + $0 % 3, keys: .max) })
    #expect(await store(server).size().entries == 0)
    #expect(server.commands < 20)
  }

  @Test func `cancelled scan ends`() async throws {
    let task = Locked<Task<CacheSize, Never>?>(nil)
    let server = try #require(
      ScriptedRedis {
        if $0 == 10 { task.withLock { $0?.cancel() } }
        return Self.page($0, keys: .max)
      })
    let store = store(server)
    let gate = AsyncStream<Void>.makeStream()
    let walking = Task {
      for await _ in gate.stream { break }
      return await store.size()
    }
    task.withLock { $0 = walking }
    gate.continuation.yield()
    #expect(await walking.value.entries == 0)
    #expect(server.commands == 10)
  }

  @Test(arguments: ["*60000\r\n", "*2\r\n*40000\r\n", "*1000\r\n$1000000\r\n"])
  func `endless reply ends the connection`(_ beginning: String) async throws {
    let isText = beginning.hasSuffix("$1000000\r\n")
    let piece = isText ? String(repeating: "x", count: 1_000_000) + "\r\n$1000000\r\n" : "*60000\r\n"
    let bytes = Array((beginning + String(repeating: piece, count: isText ? 80 : 7)).utf8)
    let server = try #require(ScriptedRedis { _ in bytes })
    let settings = TestRedis.settings { $0.entryLimit = 0 }
    let store = RedisStore(host: "127.0.0.1", port: server.port, settings: settings)
    guard case .unavailable = await store.newest(Sample.key("/a")) else {
      Issue.record("the reply was accepted")
      return
    }
  }

  private static let walks: [([String], Int64?, Int)] = [
    (["1", "2", "0"], 5, 3), (["0"], nil, 1), (["1", "1", "1"], 5, 2), (["1", "2", "1", "2", "1", "2", "1"], 5, 4),
    ((1...5_000).map(String.init), 5, 1_000), ((1...5_000).map(String.init), 3_000, 3_000),
    ((1...5_000).map(String.init), nil, 1_000), ((1...5_000).map(String.init), -1, 1_000),
    ((1...5_000).map(String.init), .max, 5_000),
  ]

  @Test(arguments: walks) func `scan length is limited`(_ cursors: [String], _ keys: Int64?, _ rounds: Int) {
    let now = MonotonicInstant(nanoseconds: 0)
    var walk = RedisWalk(now: now)
    var taken = 0
    for cursor in cursors {
      taken += 1
      if !walk.continues(to: cursor, keys: keys, bytes: 100, now: now) { break }
    }
    #expect(taken == rounds)
  }

  @Test func `scan ends after its size limit`() {
    let now = MonotonicInstant(nanoseconds: 0)
    var walk = RedisWalk(now: now)
    let isLong = walk.continues(to: "1", keys: .max, bytes: RedisWalk.mostBytes - 1, now: now)
    let isTooLong = walk.continues(to: "2", keys: .max, bytes: 1, now: now)
    #expect(isLong && !isTooLong)
  }

  @Test func `pages of a scan are bounded in total`() async throws {
    let text = String(repeating: "x", count: 8 << 20)
    let server = try #require(
      ScriptedRedis { number in
        let cursor = String(number)
        let name = String(number) + text
        return Array(
          """
          *4\r\n$\(cursor.utf8.count)\r\n\(cursor)\r\n:1000000\r\n$\(name.utf8.count)\r\n\(name)\r\n:1\r\n
          """.utf8)
      })
    let size = await store(server).size()
    #expect(server.commands == 16 && size.entries == 16)
  }

  @Test func `scan ends after its time limit`() {
    let now = MonotonicInstant(nanoseconds: 0)
    var walk = RedisWalk(now: now)
    let isLong = walk.continues(to: "1", keys: .max, bytes: 0, now: now.advanced(by: .seconds(59)))
    let isTooLong = walk.continues(to: "2", keys: .max, bytes: 0, now: now.advanced(by: .seconds(60)))
    #expect(isLong && !isTooLong)
  }
}
