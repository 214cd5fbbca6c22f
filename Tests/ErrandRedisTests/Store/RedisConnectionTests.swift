import ErrandCache
import ErrandCore
import Foundation
import StoreSamples
import Testing

@testable import ErrandRedis

/// Connecting to Redis and authenticating.
struct RedisConnectionTests {
  @Test func `connects by TCP`() async throws {
    let parts = try TestRedis.setting("ERRAND_REDIS").split(separator: ":")
    let store = RedisStore(host: String(parts[0]), port: Int(parts[1]) ?? 0, settings: TestRedis.settings())
    store.put(Sample.entry("/a"))
    #expect(await store.text(Sample.key("/a")) == "body")
  }

  @Test func `password authenticates`() async throws {
    let own = try OwnRedis(["--requirepass", "open sesame"])
    let store = RedisStore(socket: own.socket, settings: TestRedis.settings { $0.password = "open sesame" })
    store.put(Sample.entry("/a"))
    #expect(await store.text(Sample.key("/a")) == "body")
  }

  @Test func `documented permissions are sufficient`() async throws {
    let own = try OwnRedis()
    let settings = TestRedis.settings {
      $0.user = "shop"
      $0.password = "open-sesame"
    }
    let raw = try #require(RawRedis(socket: own.socket))
    let rights = "+@read +@write +@scripting +@connection +@keyspace +time -@dangerous"
    let words = "ACL SETUSER shop on >open-sesame ~\(settings.prefix):* -@all \(rights)"
    #expect(raw.run(words.split(separator: " ").map { Data($0.utf8) }) == .status("OK"))
    let store = RedisStore(socket: own.socket, settings: settings)
    for selection in [.tag("feed"), .all, .key(Sample.key("/a")), .olderThan(.now)] as [CacheSelection] {
      store.put(Sample.entry("/a", head: Sample.head(tag: "feed")))
      #expect(await store.text(Sample.key("/a")) == "body")
      store.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1_000), head: Sample.head(tag: "feed"))
      #expect(await store.list().count == 1)
      #expect(await store.size().entries == 1)
      store.remove(selection)
      #expect(await store.isMissing(Sample.key("/a")))
      await store.flush()
    }
  }

  @Test(arguments: [nil, "wrong"]) func `wrong password costs only hits`(_ password: String?) async throws {
    let own = try OwnRedis(["--requirepass", "open sesame"])
    let store = RedisStore(socket: own.socket, settings: TestRedis.settings { $0.password = password })
    store.put(Sample.entry("/a"))
    guard case .unavailable = await store.newest(Sample.key("/a")) else {
      Issue.record("the store is available")
      return
    }
    #expect(await store.salt(call: CallState()) == nil)
    await store.flush()
    #expect(await store.list().isEmpty)
  }

  @Test func `databases are separate`() async throws {
    let base = TestRedis.settings()
    var other = base
    other.database = 3
    let (one, two) = (try TestRedis.store(base), try TestRedis.store(other))
    two.put(Sample.entry("/a"))
    await two.flush()
    #expect(await one.isMissing(Sample.key("/a")))
    #expect(await two.text(Sample.key("/a")) == "body")
  }

  @Test func `missing socket costs only hits`() async throws {
    let store = RedisStore(socket: "/nowhere/at/all", settings: TestRedis.settings())
    store.put(Sample.entry("/a"))
    #expect(await store.text(Sample.key("/a")) == nil)
    #expect(await store.size().entries == 0)
    #expect(await !store.holdsForOthers(Sample.key("/a", account: "another")))
    await store.flush()
  }

  @Test func `entry that is not kept is no requested removal`() async {
    let store = RedisStore(socket: "/nowhere/at/all", settings: TestRedis.settings())
    await store.close()
    store.put(Sample.entry("/a", head: Sample.head(isMemoryOnly: true)))
    #expect(await store.removals(call: CallState(), patience: .zero) == .done)
    store.remove(.key(Sample.key("/a")))
    #expect(await store.removals(call: CallState(), patience: .zero) == .pending)
  }

  @Test func `description hides the password`() {
    var settings = RedisSettings()
    settings.password = "open sesame"
    var dumped = ""
    dump(settings, to: &dumped)
    for text in ["\(settings)", String(reflecting: settings), dumped] { #expect(!text.contains("sesame")) }
  }
}
