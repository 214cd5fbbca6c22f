import ErrandCache
import ErrandCore
import Foundation
import StoreSamples
import Testing

@testable import ErrandRedis

/// Keys that another client has changed.
struct RedisDamageTests {
  /// In a separate database: the test removes everything so often that keys of other tests would make it slow.
  private let settings = TestRedis.settings { $0.database = 5 }
  private let raw: RawRedis

  init() throws {
    raw = try #require(RawRedis(socket: try TestRedis.socket))
    raw.run("SELECT", "5")
  }

  private static let types: [[String]] = [
    ["SET", "garbage"], ["RPUSH", "garbage"], ["SADD", "garbage"], ["HSET", "garbage", "x"], ["ZADD", "1", "garbage"],
    ["XADD", "*", "garbage", "x"], ["HSET", "m", "x", "mm", "y"], ["SET", ""],
  ]

  /// A store with entries, and the names of all its keys.
  private func filled() async throws -> (RedisStore, [String]) {
    let store = try TestRedis.store(settings)
    store.put(Sample.entry("/a", head: Sample.head(tag: "feed")))
    await store.flush()
    return (store, raw.keys(settings.prefix))
  }

  /// Calls every operation. Each must end, and the store must work afterwards.
  private func useAll(_ store: RedisStore) async {
    let key = Sample.key("/a")
    if let text = await store.text(key) { #expect(text == "body") }
    _ = await store.holdsForOthers(key)
    _ = await store.list()
    _ = await store.size()
    store.renew(key, stored: WallTime(milliseconds: 1_000), head: Sample.head(time: 2_000))
    for selection in [.tag("feed"), .host("api.example.com"), .target(key.target), .account(key.account)]
      as [CacheSelection]
    {
      store.remove(selection)
    }
    await store.flush()
    store.put(Sample.entry("/a", body: "new"))
    #expect(await store.text(key) == "new")
    store.remove(.all)
    #expect(await store.isMissing(key))
    store.put(Sample.entry("/a", body: "newer"))
    #expect(await store.text(key) == "newer")
    store.remove(.all)
    await store.flush()
  }

  @Test(arguments: types) func `wrong key type costs a hit`(_ type: [String]) async throws {
    for index in 0..<7 {
      let (store, keys) = try await filled()
      try #require(keys.count == 7)
      raw.run("DEL", keys[index])
      let command = [type[0], keys[index]] + type.dropFirst()
      #expect(!raw.run(command.map { Data($0.utf8) }).isError)
      await useAll(store)
    }
  }

  @Test func `foreign value is deleted as damaged`() async throws {
    let (store, keys) = try await filled()
    let key = try #require(keys.first { $0.contains(":v:") })
    raw.run("SET", key, "garbage")
    guard case .damaged = await store.newest(Sample.key("/a")) else {
      Issue.record("not damaged")
      return
    }
    #expect(raw.run("EXISTS", key).number == 0)
    #expect(await store.isMissing(Sample.key("/a")))
  }

  @Test(arguments: ["h", "c", "b", "m"]) func `flipped bytes are detected`(_ letter: Character) async throws {
    let length = letter == "h" ? 400 : 60
    for place in stride(from: 0, to: length, by: letter == "h" ? 13 : 1) {
      let (store, keys) = try await filled()
      let key = try #require(keys.first { $0.contains(":v:") })
      let field = try #require(raw.fields(key).first { $0.name.first == letter })
      guard field.value.count > place else { break }
      var value = field.value
      value[place] ^= 0x10
      _ = raw.run([Data("HSET".utf8), Data(key.utf8), Data(field.name.utf8), value])
      switch await store.newest(Sample.key("/a")) {
      case .found(let entry):
        // Some changes of the words are valid, such as another number. They do not damage the response.
        #expect(letter == "m" && entry.body == Data("body".utf8))
      case .missing: #expect(letter == "m")
      case .damaged:
        await store.flush()
        #expect(await store.isMissing(Sample.key("/a")))
        #expect(raw.fields(key).isEmpty)
      case .refused, .unavailable: Issue.record("at \(place)")
      }
    }
  }

  @Test(arguments: ["h", "c", "b", "m"]) func `missing or foreign field is detected`(_ letter: Character)
    async throws
  {
    for value in [nil, "", "garbage"] as [String?] {
      let (store, keys) = try await filled()
      let key = try #require(keys.first { $0.contains(":v:") })
      let field = try #require(raw.fields(key).first { $0.name.first == letter })
      if let value { raw.run("HSET", key, field.name, value) } else { raw.run("HDEL", key, field.name) }
      guard case .damaged = await store.newest(Sample.key("/a")) else {
        Issue.record("not damaged: \(value ?? "nothing")")
        continue
      }
      await store.flush()
      #expect(await store.isMissing(Sample.key("/a")))
    }
  }

  @Test func `head of another key is detected`() async throws {
    let (store, keys) = try await filled()
    let key = try #require(keys.first { $0.contains(":v:") })
    store.put(Sample.entry("/b", body: "other"))
    await store.flush()
    let other = try #require(raw.keys(settings.prefix).first { $0.contains(":v:") && $0 != key })
    let head = try #require(raw.fields(other).first { $0.name.first == "h" })
    _ = raw.run([Data("HSET".utf8), Data(key.utf8), Data(head.name.utf8), head.value])
    guard case .damaged = await store.newest(Sample.key("/a")) else {
      Issue.record("the head of another key was accepted")
      return
    }
    #expect(await store.text(Sample.key("/b")) == "other")
  }

  @Test(arguments: ["era", "salt", "seq", "bound", "older"])
  func `damaged state is reset`(_ field: String) async throws {
    for value in ["", "garbage", "-1e400", "99999999999999999999"] {
      let (store, _) = try await filled()
      raw.run("HSET", settings.prefix + ":state", field, value)
      await useAll(store)
    }
  }
}
