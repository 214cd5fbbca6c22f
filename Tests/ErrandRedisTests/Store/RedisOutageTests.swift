import ErrandCache
import ErrandCore
import ErrandTesting
import Foundation
import StoreSamples
import Testing

@testable import ErrandRedis

/// A Redis that disappears, freezes, or is not a Redis. It costs hits, but no call fails.
struct RedisOutageTests {
  private func isUnavailable(_ lookup: CacheLookup) -> Bool {
    if case .unavailable = lookup { true } else { false }
  }

  /// Waits until the store finds a new entry, which means that Redis is available again.
  private func comesBack(_ store: RedisStore) async {
    repeat {
      store.put(Sample.entry("/back"))
      await store.flush()
    } while await store.text(Sample.key("/back")) == nil
  }

  @Test func `store reconnects to restarted Redis`() async throws {
    let own = try OwnRedis()
    let store = RedisStore(socket: own.socket, settings: TestRedis.settings())
    for _ in 0..<3 {
      store.put(Sample.entry("/a"))
      #expect(await store.text(Sample.key("/a")) == "body")
      own.kill()
      for _ in 0..<20 {
        store.put(Sample.entry("/a"))
        store.renew(Sample.key("/a"), stored: WallTime(milliseconds: 1_000), head: Sample.head())
        store.remove(.tag("x"))
        #expect(await store.text(Sample.key("/a")) == nil)
        #expect(await !store.holdsForOthers(Sample.key("/a", account: "another")))
      }
      #expect(await store.list().isEmpty)
      await store.flush()
      try own.start()
      await comesBack(store)
    }
  }

  @Test func `removals during an outage are all applied`() async throws {
    let own = try OwnRedis()
    let store = RedisStore(socket: own.socket, settings: TestRedis.settings())
    // The first two tags are equal as Swift strings.
    let tags = ["ad\u{e1}", "ada\u{301}"] + (0..<5_000).map { "tag \($0)" }
    for tag in [tags[0], tags[1], tags[5_001], "kept"] {
      store.put(Sample.entry("/\(Array(tag.utf8))", head: Sample.head(tag: tag)))
    }
    await store.flush()
    own.freeze()
    while await store.removals(call: CallState(), patience: .zero) == .done {
      store.put(Sample.entry("/back"))
      await store.flush()
    }
    for tag in tags { store.remove(.tag(tag)) }
    own.thaw()
    await comesBack(store)
    for tag in [tags[0], tags[1], tags[5_001]] { #expect(await store.isMissing(Sample.key("/\(Array(tag.utf8))"))) }
    #expect(await store.text(Sample.key("/\(Array("kept".utf8))")) == "body")
  }

  @Test func `kill under load is survived`() async throws {
    let own = try OwnRedis()
    let store = RedisStore(socket: own.socket, settings: TestRedis.settings())
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 { group.addTask { await Self.storm(store, worker) } }
      while await store.text(Sample.key("/0-100")) == nil { await Task.yield() }
      own.kill()
      try? own.start()
    }
    await comesBack(store)
  }

  private static func storm(_ store: RedisStore, _ worker: Int) async {
    for index in 0..<1_000 {
      let path = "/\(worker)-\(index)"
      store.put(Sample.entry(path, body: path))
      if let text = await store.text(Sample.key(path)) { #expect(text == path) }
    }
  }

  @Test func `closed idle connection is reopened`() async throws {
    let own = try OwnRedis()
    let store = RedisStore(socket: own.socket, settings: TestRedis.settings())
    store.put(Sample.entry("/a"))
    await store.flush()
    let raw = try #require(RawRedis(socket: own.socket))
    raw.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    while raw.run("CLIENT", "LIST").text?.split(separator: "\n").count != 1 { await Task.yield() }
    // A request that is sent before the end of the connection is noticed gets no reply.
    while await store.text(Sample.key("/a")) == nil { await Task.yield() }
  }

  @Test func `lost scripts are loaded again`() async throws {
    let own = try OwnRedis()
    let store = RedisStore(socket: own.socket, settings: TestRedis.settings())
    store.put(Sample.entry("/a"))
    await store.flush()
    RawRedis(socket: own.socket)?.run("SCRIPT", "FLUSH")
    while await store.text(Sample.key("/a")) == nil { await Task.yield() }
  }

  @Test(.timeLimit(.minutes(1))) func `lost scripts do not block close()`() async throws {
    let own = try OwnRedis()
    let store = RedisStore(socket: own.socket, settings: TestRedis.settings())
    store.put(Sample.entry("/a"))
    // This use is written by `close()`. Redis rejects the only change of the connection since its last reply.
    #expect(await store.text(Sample.key("/a")) == "body")
    await store.flush()
    RawRedis(socket: own.socket)?.run("SCRIPT", "FLUSH")
    await store.close()
  }

  @Test func `slow reply is awaited while bytes arrive`() async throws {
    // The four bytes take longer than the time-out, and each pause is much shorter.
    let server = try #require(ScriptedRedis(pause: .milliseconds(1_500)) { _ in Array(":1\r\n".utf8) })
    let settings = TestRedis.settings { $0.commandTimeout = .seconds(5) }
    let store = RedisStore(host: "127.0.0.1", port: server.port, settings: settings)
    #expect(await store.holdsForOthers(Sample.key("/a")))
  }

  @Test func `patience ends on the clock of the call`() async throws {
    let own = try OwnRedis()
    let store = RedisStore(socket: own.socket, settings: TestRedis.settings())
    store.put(Sample.entry("/a"))
    await store.flush()
    own.freeze()
    let clock = ManualClock()
    let call = CallState(timers: clock)
    let waiting = Task {
      await store.find(Sample.key("/a"), choosing: { _ in 0 }, call: call, patience: .milliseconds(50))
    }
    #expect(await clock.waitForTimers(1))
    clock.advance(by: .milliseconds(51))
    #expect(isUnavailable(await waiting.value))
    #expect(clock.pending == 0 && call.openWaits == 0)
    own.thaw()
    #expect(await store.text(Sample.key("/a")) == "body")
  }

  @Test(arguments: [CallState.StopReason.cancelled, .expired])
  func `stopped call ends its wait`(_ reason: CallState.StopReason) async throws {
    let server = try #require(FakeServer())
    let store = RedisStore(host: "127.0.0.1", port: server.port, settings: TestRedis.settings())
    let call = CallState.withoutTime
    let waiting = Task { await store.find(Sample.key("/a"), choosing: { _ in 0 }, call: call, patience: nil) }
    let salt = Task { await store.salt(call: call) }
    while call.openWaits < 2 { await Task.yield() }
    call.stop(reason)
    #expect(isUnavailable(await waiting.value))
    #expect(await salt.value == nil)
  }

  @Test func `silent server times out`() async throws {
    let server = try #require(FakeServer())
    let settings = TestRedis.settings { $0.connectTimeout = .milliseconds(100) }
    let store = RedisStore(host: "127.0.0.1", port: server.port, settings: settings)
    store.put(Sample.entry("/a"))
    await store.flush()
    #expect(isUnavailable(await store.newest(Sample.key("/a"))))
    #expect(await store.size().entries == 0)
  }

  @Test func `frozen Redis times out`() async throws {
    let own = try OwnRedis()
    let settings = TestRedis.settings {
      $0.commandTimeout = .milliseconds(100)
      $0.connectTimeout = .milliseconds(100)
    }
    let store = RedisStore(socket: own.socket, settings: settings)
    await comesBack(store)
    own.freeze()
    #expect(isUnavailable(await store.newest(Sample.key("/back"))))
    store.remove(.key(Sample.key("/back")))
    await store.flush()
    own.thaw()
    // The removal is applied before anything is read.
    var lookup = await store.newest(Sample.key("/back"))
    while isUnavailable(lookup) { lookup = await store.newest(Sample.key("/back")) }
    guard case .missing = lookup else {
      Issue.record("the removed entry is found: \(lookup)")
      return
    }
  }

  @Test func `logout during an outage is applied later`() async throws {
    let own = try OwnRedis()
    let settings = TestRedis.settings()
    let before = RedisStore(socket: own.socket, settings: settings)
    let salt = try #require(await before.salt(call: .withoutTime))
    let (ada, eve) = (Self.key(of: "ada", salt), Self.key(of: "eve", salt))
    for key in [ada, eve] { before.put(CacheEntry(key: key, head: Sample.head(), body: Data("body".utf8))) }
    await before.flush()
    own.freeze()
    let store = RedisStore(socket: own.socket, settings: settings)
    let cache = ResponseCache(store: store)
    await cache.removeAll(account: "ada")
    own.thaw()
    while await store.salt(call: CallState()) != salt { await Task.yield() }
    // Any use of the cache applies the recorded removals first.
    await cache.removeAll(account: "nobody")
    await cache.flush()
    #expect(await before.isMissing(ada))
    #expect(await before.text(eve) == "body")
  }

  private static func key(of account: String, _ salt: Digest) -> CacheKey {
    let key = Sample.key("/a", account: account)
    let owner = CachePartition.account(account).digest(salt: salt.bytes)
    return CacheKey(entry: key.entry, anyAccount: key.anyAccount, target: key.target, account: owner)
  }

  @Test func `lost write removes the older entry`() async throws {
    let own = try OwnRedis()
    let settings = TestRedis.settings { $0.commandTimeout = .milliseconds(100) }
    let store = RedisStore(socket: own.socket, settings: settings)
    await comesBack(store)
    own.freeze()
    _ = await store.newest(Sample.key("/other"))
    store.put(Sample.entry("/back", body: "new", head: Sample.head(time: 9_000)))
    own.thaw()
    var lookup = await store.newest(Sample.key("/back"))
    while isUnavailable(lookup) { lookup = await store.newest(Sample.key("/back")) }
    guard case .missing = lookup else {
      Issue.record("the older response is found: \(lookup)")
      return
    }
  }

  @Test func `full Redis removes the older entry`() async throws {
    let own = try OwnRedis(["--maxmemory-policy", "noeviction"])
    let store = RedisStore(socket: own.socket, settings: TestRedis.settings())
    await comesBack(store)
    RawRedis(socket: own.socket)?.run("CONFIG", "SET", "maxmemory", "1")
    store.put(Sample.entry("/back", body: "new", head: Sample.head(time: 9_000)))
    await store.flush()
    #expect(await store.text(Sample.key("/back")) == nil)
    RawRedis(socket: own.socket)?.run("CONFIG", "SET", "maxmemory", "0")
    await comesBack(store)
  }

  private static let replies = [
    "", "x", "\r\n", "+OK\r\n", "-ERR no\r\n", ":1\r\n", "$-1\r\n", "$5\r\nhel", "$99999999999999999999\r\n", "*-5\r\n",
    "*2147483647\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", "HTTP/1.1 200 OK\r\n\r\n",
    String(repeating: "$40\r\n0123456789012345678901234567890123456789\r\n", count: 16) + "+unasked\r\n",
    String(repeating: "$40\r\n0123456789012345678901234567890123456789\r\n", count: 16) + "%1\r\n+a\r\n+b\r\n",
  ]

  @Test(arguments: replies) func `invalid replies cost only hits`(_ reply: String) async throws {
    let server = try #require(FakeServer(saying: Array(reply.utf8)))
    let settings = TestRedis.settings {
      $0.connectTimeout = .milliseconds(200)
      $0.commandTimeout = .milliseconds(200)
    }
    let store = RedisStore(host: "127.0.0.1", port: server.port, settings: settings)
    for _ in 0..<3 {
      store.put(Sample.entry("/a"))
      #expect(await store.text(Sample.key("/a")) == nil)
      await store.flush()
    }
  }

  @Test func `released store writes pending entries`() async throws {
    let own = try OwnRedis()
    let settings = TestRedis.settings()
    var store: RedisStore? = RedisStore(socket: own.socket, settings: settings)
    for index in 0..<100 { store?.put(Sample.entry("/\(index)")) }
    store = nil
    let raw = try #require(RawRedis(socket: own.socket))
    // The thread ends after all writes, and closes its connection. The keys are read first: the connection is also
    // missing before the thread has connected.
    while raw.keys(settings.prefix).isEmpty || raw.run("CLIENT", "LIST").text?.split(separator: "\n").count != 1 {
      await Task.yield()
    }
    #expect(raw.keys(settings.prefix).filter { $0.contains(":v:") }.count == 100)
  }
}
