import Errand
import ErrandCache
@testable import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// Draining and the client's cache.
struct DrainCacheTests {
  private struct Stored: APIRequest {
    typealias Response = String
    var path: Path { "/stored" }
    var cache: CachePolicy { .http }
  }

  /// A store in memory whose `flush` waits for a latch.
  private struct SlowStore: CacheStore {
    let inner = MemoryStore()
    let flushes = Recorded<String>()
    let latch = Latch()

    func salt(call: CallState, patience: Duration?) async -> Digest? {
      await inner.salt(call: call, patience: patience)
    }
    func find(
      _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
    ) async -> CacheLookup {
      await inner.find(key, choosing: choosing, call: call, patience: patience)
    }
    func holdsForOthers(
      _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
    ) async -> Bool {
      await inner.holdsForOthers(anyAccount, than: accounts, call: call, patience: patience)
    }
    func put(_ entry: CacheEntry) { inner.put(entry) }
    func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
      inner.renew(key, stored: stored, head: head)
    }
    func remove(_ selection: CacheSelection) { inner.remove(selection) }
    func list() async -> [CacheListing] { await inner.list() }
    func size() async -> CacheSize { await inner.size() }
    func flush() async {
      flushes.append("flush")
      try? await latch.wait()
    }
  }

  private let clock = ManualClock()
  private let store = SlowStore()
  private let latch = Latch()
  private let sent = Recorded<String>()

  /// A client whose first response is stale at once, and whose second exchange waits for the latch.
  private func client() -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(
      ScriptedTransport { [sent, latch] _ in
        sent.append("sent")
        if sent.all.count > 1 { try await latch.wait() }
        return .text("text", fields: HTTPFields([HTTPField("Cache-Control", "max-age=0, stale-while-revalidate=600")]))
      })
    configuration.timers = clock
    configuration.cache.store = .own(ResponseCache(store: store))
    return APIClient(configuration)
  }

  @Test func `draining waits for writes`() async throws {
    let client = client()
    _ = try await client.send(Stored())
    let drain = Task { await client.drain() }
    #expect(await eventually { store.flushes.all == ["flush"] })
    store.latch.open()
    #expect(await drain.value.isComplete)
  }

  @Test func `writes that do not end are given up`() async throws {
    let client = client()
    _ = try await client.send(Stored())
    let drain = Task { await client.drain(within: .seconds(10)) }
    #expect(await eventually { store.flushes.all == ["flush"] })
    #expect(await clock.waitForTimers(1))
    clock.advance(by: .seconds(10))
    clock.advance(by: .seconds(5))
    let report = await drain.value
    #expect((report.unfinished, report.isCacheWritten, report.isComplete) == (0, false, false))
    store.latch.open()
  }

  @Test func `deadline cancels background refreshes`() async throws {
    let client = client()
    store.latch.open()
    _ = try await client.send(Stored())
    _ = try await client.send(Stored())
    #expect(await eventually { sent.all.count == 2 })
    let timersOfRefresh = clock.pending
    let drain = Task { await client.drain(within: .seconds(10)) }
    #expect(await eventually { client.isDraining })
    #expect(store.flushes.all.isEmpty)
    #expect(await clock.waitForTimers(timersOfRefresh + 1))
    clock.advance(by: .seconds(10))
    let report = await drain.value
    #expect((report.isCacheWritten, report.hasCancelledRefreshes, report.isComplete) == (true, true, false))
    #expect(store.flushes.all == ["flush"])
  }

  /// A cache in which a refresh is always in progress, as in a cache that busy clients share.
  private final class BusyCache: ClientCache {
    struct Passing: Interceptor {
      func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
        try await next(request)
      }
    }

    let flushes = Recorded<String>()
    let cancels = Recorded<String>()
    let latch = Latch()
    var lookUp: any Interceptor { Passing() }
    var storing: any Interceptor { Passing() }
    var isRefreshing: Bool { true }
    func refreshesEnded() async { try? await latch.wait() }
    func cancelRefreshes() { cancels.append("cancel") }
    func flush() async { flushes.append("flush") }
    func removeAll(account: String) async {}
  }

  private func client(busy cache: BusyCache) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(ScriptedTransport { _ in .text("text") })
    configuration.timers = clock
    configuration.cache.store = CacheChoice(.own(cache))
    return APIClient(configuration)
  }

  @Test func `busy shared cache is written`() async {
    let cache = BusyCache()
    let client = client(busy: cache)
    let drain = Task { await client.drain(within: .seconds(10)) }
    #expect(await clock.waitForTimers(1))
    #expect(cache.flushes.all.isEmpty)
    clock.advance(by: .seconds(10))
    let report = await drain.value
    #expect((report.isCacheWritten, report.hasCancelledRefreshes) == (true, true))
    #expect(cache.flushes.all == ["flush"])
    cache.latch.open()
  }

  @Test func `drained client leaves refreshes of others`() async {
    let cache = BusyCache()
    let client = client(busy: cache)
    cache.latch.open()
    let report = await client.drain()
    #expect(report.isComplete)
    let again = Task { await client.drain() }
    again.cancel()
    #expect(await again.value == report)
    #expect(cache.cancels.all.isEmpty)
  }

  @Test func `call that hangs does not prevent writes`() async {
    let cache = BusyCache()
    let client = client(busy: cache)
    let (hooked, gate) = (Latch(), Latch())
    let options = CallOptions(beforeCompletion: { _ in
      hooked.open()
      await Task { try? await gate.wait() }.value  // does not end when the call is cancelled
    })
    let stuck = Task { await client.outcome(of: Stored(), options: options) }
    try? await hooked.wait()
    let drain = Task { await client.drain(within: .seconds(10)) }
    #expect(await eventually { client.isDraining })
    drain.cancel()
    #expect(await eventually { cache.flushes.all == ["flush"] })
    #expect(client.registry.running.count == 1)
    gate.open()
    cache.latch.open()
    _ = await stuck.value
    _ = await drain.value
  }
}
