import ErrandCache
import ErrandCore
import Foundation
import StoreSamples
import Testing

@testable import ErrandRedis

/// Redis removes expired entries by itself.
struct RedisExpiryTests {
  private func lifetimes(_ settings: RedisSettings) throws -> [String: Int64] {
    let raw = try #require(RawRedis(socket: try TestRedis.socket))
    let keys = raw.keys(settings.prefix).filter { !$0.hasSuffix(":state") }
    return Dictionary(uniqueKeysWithValues: keys.map { ($0, raw.run("PTTL", $0).number ?? -9) })
  }

  @Test func `every key expires`() async throws {
    let settings = TestRedis.settings { $0.expiry = .seconds(600) }
    let store = try TestRedis.store(settings)
    store.put(Sample.entry("/a", head: Sample.head(tag: "feed")))
    await store.flush()
    let lifetimes = try lifetimes(settings)
    #expect(lifetimes.count == 6)
    for (key, left) in lifetimes {
      #expect((key.contains(":v:") ? 500_000...600_000 : 560_000...660_000).contains(left), "\(key)")
    }
  }

  @Test func `default is thirty days`() async throws {
    let settings = TestRedis.settings()
    let store = try TestRedis.store(settings)
    store.put(Sample.entry("/a"))
    await store.flush()
    let days = try #require(lifetimes(settings).first { $0.key.contains(":v:") }).value / 3_600_000
    #expect((719...720).contains(days))
  }

  @Test func `expired entry is missing`() async throws {
    let settings = TestRedis.settings { $0.expiry = .seconds(1) }
    let store = try TestRedis.store(settings)
    let start = ContinuousClock.now
    store.put(Sample.entry("/a"))
    let text = await store.text(Sample.key("/a"))
    #expect(text == "body" || start.duration(to: .now) >= .seconds(1))
    while await !store.isMissing(Sample.key("/a")) { await Task.yield() }
    #expect(try lifetimes(settings).keys.allSatisfy { !$0.contains(":v:") })
  }

  @Test func `old variant expires separately`() async throws {
    var settings = TestRedis.settings { $0.expiry = .seconds(1) }
    let short = try TestRedis.store(settings)
    short.put(Sample.entry("/a", head: Sample.head(variant: "de")))
    await short.flush()
    settings.expiry = .seconds(600)
    let long = try TestRedis.store(settings)
    long.put(Sample.entry("/a", head: Sample.head(variant: "en")))
    while await long.heads(Sample.key("/a")).count > 1 { await Task.yield() }
    #expect(await long.heads(Sample.key("/a")).first?.variant == Sample.digest("variant en"))
    #expect(await long.list().count == 1)
    #expect(await long.size().entries == 1)
  }

  @Test func `renewal restarts the expiry`() async throws {
    var settings = TestRedis.settings { $0.expiry = .seconds(60) }
    let short = try TestRedis.store(settings)
    short.put(Sample.entry("/a"))
    await short.flush()
    settings.expiry = .seconds(600)
    let long = try TestRedis.store(settings)
    long.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1_000), head: Sample.head(time: 2_000))
    await long.flush()
    #expect(try lifetimes(settings).values.allSatisfy { $0 > 500_000 })
  }
}
