import Errand
@testable import ErrandCore
import ErrandCache
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// The cache with a real server that supports conditional requests, over the platform's transport.
struct LoopbackCacheTests {
  private static let changed = "Tue, 14 Nov 2023 22:13:20 GMT"

  /// A page that a POST changes; the server handles conditional requests by RFC 9110.
  private static func server() throws -> LoopbackServer {
    let changes = Recorded<Int>()
    return try LoopbackServer { request in
      if request.method == "POST" {
        changes.append(1)
        return .status(204)
      }
      let language = request.headers["Accept-Language"] ?? "-"
      let tag = "\"\(language)-\(changes.count)\""
      var headers: LoopbackHeaders = ["Vary": "Accept-Language", "Cache-Control": "no-cache", "ETag": tag]
      if request.path == "/dated" { headers = ["Last-Modified": changed, "Cache-Control": "no-cache"] }
      if request.path == "/kept" { headers["Cache-Control"] = "max-age=600" }
      let isKnown =
        request.headers["If-None-Match"].map { $0 == headers["ETag"] }
        ?? (request.headers["If-Modified-Since"] == changed)
      return isKnown
        ? .status(304, headers: headers) : .status(200, headers: headers, body: "\(language) \(changes.count)")
    }
  }

  private static func client(
    _ server: LoopbackServer, _ cache: ResponseCache = ResponseCache(store: MemoryStore()),
    timers: (any Timers)? = nil
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.cache.store = .own(cache)
    configuration.timers = timers
    return APIClient(configuration)
  }

  @Test func `entity tag is revalidated over a socket`() async throws {
    let server = try Self.server()
    let client = Self.client(server)
    let first = try await client.response(KeptText(path: "/page"))
    let second = try await client.response(KeptText(path: "/page"))
    #expect(first.value == "- 0" && first.origin == .network)
    #expect(second.value == "- 0" && second.origin == .revalidated && second.status == 200)
    #expect(second.fields["ETag"] == "\"--0\"")
    #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"--0\""])
  }

  @Test func `range is served despite Vary on the coding`() async throws {
    let server = try LoopbackServer { _ in
      .status(200, headers: ["Vary": "Accept-Encoding", "Cache-Control": "max-age=60"], body: "0123456789")
    }
    let client = Self.client(server)
    #expect(try await client.send(KeptText(path: "/page")) == "0123456789")
    let part = try await client.response(KeptText(path: "/page", headers: ["Range": "bytes=2-4"]))
    #expect(part.value == "234" && part.status == 206 && part.origin == .cacheFresh)
    #expect(server.requests.count == 1)
  }

  private struct Film: APIRequest {
    let file: URL
    var path: Path { "/film" }
    var download: Download? { .to(file) }
    typealias Response = DownloadedFile
  }

  @Test(
    arguments: [(.ignoringCache, "no-cache"), (.revalidating, "max-age=0"), (.withoutCache, nil)]
      as [(CacheReadMode, String?)])
  func `caches on the way are asked in every call`(_ mode: CacheReadMode, _ field: String?) async throws {
    let server = try LoopbackServer { .ok("\($0.number)") }
    let client = Self.client(server)
    let options = CallOptions.cache(mode)
    _ = try await client.send(KeptText(path: "/page", cache: .none), options: options)
    for try await _ in try await client.stream(KeptText(path: "/page"), options: options) {}
    let file = URL.temporaryDirectory.appending(path: "errand-film-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    _ = try await client.send(Film(file: file), options: options)
    client.configure { $0.cache.rules = [HostCacheRule("other.example", .http)] }
    _ = try await client.send(KeptText(path: "/page", cache: .inherited), options: options)
    client.configure { $0.cache.store = .off }
    _ = try await client.send(KeptText(path: "/page"), options: options)
    #expect(server.requests.map { $0.headers["Cache-Control"] } == Array(repeating: field, count: 5))
    let own = KeptText(path: "/page", cache: .none, headers: ["Cache-Control": "no-transform"])
    _ = try await client.send(own, options: options)
    #expect(server.requests.last?.headers["Cache-Control"] == "no-transform")
  }

  @Test func `modification date is revalidated over a socket`() async throws {
    let server = try Self.server()
    let client = Self.client(server)
    for origin in [ResponseOrigin.network, .revalidated, .revalidated] {
      let answer = try await client.response(KeptText(path: "/dated"))
      #expect(answer.value == "- 0" && answer.origin == origin)
    }
    #expect(server.requests.last?.headers["If-Modified-Since"] == Self.changed)
  }

  @Test func `each variant is revalidated`() async throws {
    let server = try Self.server()
    let client = Self.client(server)
    for origin in [ResponseOrigin.network, .revalidated] {
      for language in ["de", "en"] {
        let page = KeptText(path: "/page", headers: ["Accept-Language": .text(language)])
        let answer = try await client.response(page)
        #expect(answer.value == "\(language) 0" && answer.origin == origin)
      }
    }
  }

  @Test func `POST invalidates the stored page`() async throws {
    let server = try Self.server()
    let client = Self.client(server)
    let page = KeptText(path: "/kept")
    for _ in 1...2 { #expect(try await client.send(page) == "- 0") }
    #expect(server.requests.count == 1)
    _ = try await client.send(KeptText(path: "/kept", method: .post))
    #expect(try await client.send(page) == "- 1")
    #expect(server.requests.last?.headers["If-None-Match"] == nil, "an invalidated response is not revalidated")
  }

  @Test func `cached then fresh works over a socket`() async throws {
    let server = try Self.server()
    let client = Self.client(server)
    let page = KeptText(path: "/kept")
    var seen: [String] = []
    for _ in 1...2 {
      for try await answer in client.cachedThenFresh(page) { seen.append("\(answer.value) \(answer.origin)") }
    }
    #expect(seen == ["- 0 network", "- 0 cacheFresh"])
    #expect(server.requests.count == 2)
  }

  @Test(arguments: [CachePolicy.http, .lifetime(.seconds(60))])
  func `truncated body is not stored`(_ policy: CachePolicy) async throws {
    let headers: LoopbackHeaders = ["Cache-Control": "max-age=60"]
    let cache = ResponseCache(store: MemoryStore())
    let server = try LoopbackServer()
    let client = Self.client(server, cache)
    for broken in [
      LoopbackAnswer.status(200, headers: headers, body: "hello").cut(after: 2),
      .status(200, headers: headers, body: "hello").reset(after: 2),
      .chunked(["he", "llo"], isComplete: false),
      LoopbackAnswer.chunked(["he", "llo"]).cut(after: 4),
    ] {
      server.enqueue(broken)
      let error = await client.outcome(of: KeptText(path: "/page", cache: policy)).error
      #expect(error?.stage == .transport)
      #expect(await cache.entries().isEmpty)
    }
    server.enqueue(.status(200, headers: headers, body: "hello"))
    #expect(try await client.send(KeptText(path: "/page", cache: policy)) == "hello")
    #expect(await cache.entries().count == 1)
  }

  @Test func `stopped transfer is not stored`() async throws {
    let cache = ResponseCache(store: MemoryStore())
    let gate = Gate()
    let server = try LoopbackServer { _ in
      .status(200, headers: ["Cache-Control": "max-age=60"], body: "hello").stalled(after: 2, until: gate)
    }
    let client = Self.client(server, cache)
    async let outcome = client.outcome(of: KeptText(path: "/page"))
    try await server.request(number: 1)
    client.cancelAll()
    #expect(await outcome.error?.stage == .cancelled)
    gate.open()
    while !client.services.joining.isIdle { await Task.yield() }
    #expect(await cache.entries().isEmpty)
  }

  @Test func `stored response replaces an unreachable server`() async throws {
    let server = try Self.server()
    let client = Self.client(server)
    _ = try await client.send(KeptText(path: "/page"))
    server.stop()
    #expect(await client.outcome(of: KeptText(path: "/page")).error?.stage == .transport)
    let offline = try await client.response(KeptText(path: "/page"), options: .cache(.networkElseCached))
    #expect(offline.value == "- 0" && offline.origin == .cacheStale)
  }

  @Test func `stored response replaces a stalling server`() async throws {
    let gate = Gate()
    let clock = ManualClock()
    let server = try LoopbackServer { _ in .stall(until: gate) }
    server.enqueue(.status(200, headers: ["Cache-Control": "max-age=0, stale-if-error=600"], body: "hello"))
    let client = Self.client(server)
    client.configure { $0.timers = clock }
    _ = try await client.send(KeptText(path: "/page"))
    async let answer = client.response(KeptText(path: "/page"))
    try await server.request(number: 2)
    clock.advance(by: .milliseconds(119_950))
    let came = try await answer
    #expect(came.value == "hello" && came.origin == .cacheStale)
    gate.open()
  }

  @Test func `closed cache fails no call`() async throws {
    let folder = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
    defer { discardFolder(folder) }
    let server = try Self.server()
    let (cache, request) = (ResponseCache(folder: folder), KeptText(path: "/kept"))
    // A call waits at most 250 ms for the disk. With a clock that stands still, a slow machine does not matter.
    let still = ManualClock()
    let client = Self.client(server, cache, timers: still)
    _ = try await client.send(request)
    await cache.close()
    #expect(try await client.response(request).value == "- 0")
    let next = ResponseCache(folder: folder)
    #expect(try await Self.client(server, next, timers: still).response(request).origin == .cacheFresh)
    await next.close()
    try FileManager.default.removeItem(at: folder)
    for _ in 0..<2 { #expect(try await client.response(request).value == "- 0") }
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func `wall clock ends a lifetime`() async throws {
    let server = try Self.server()
    let (clock, start) = (ManualClock(), WallTime.now)
    let folder = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
    defer { discardFolder(folder) }
    let wall: @Sendable () -> WallTime = { start.advanced(byMilliseconds: clock.now.nanoseconds / 1_000_000) }
    for cache in [ResponseCache(store: MemoryStore(), wallClock: wall), ResponseCache(folder: folder, wallClock: wall)]
    {
      let client = Self.client(server, cache, timers: ManualClock())
      #expect(try await client.response(KeptText(path: "/kept")).origin == .network)
      clock.advance(by: .seconds(500))
      #expect(try await client.response(KeptText(path: "/kept")).origin == .cacheFresh)
      clock.advance(by: .seconds(101))
      #expect(try await client.response(KeptText(path: "/kept")).origin == .revalidated)
      await cache.close()
    }
  }

  @Test func `1xx responses are not stored`() async throws {
    let server = try LoopbackServer { _ in
      LoopbackAnswer.status(200, headers: ["Cache-Control": "max-age=60"], body: "hello")
        .informational(103, headers: ["Cache-Control": "no-store", "Link": "</a>"])
    }
    let client = Self.client(server)
    for origin in [ResponseOrigin.network, .cacheFresh] {
      let answer = try await client.response(KeptText(path: "/page"))
      #expect(answer.value == "hello" && answer.origin == origin && answer.fields["Link"] == nil)
    }
  }
}

/// A text request. Its response is stored as the server says unless the test sets a policy.
struct KeptText: APIRequest {
  let path: Path
  var method = HTTPMethod.get
  var cache = CachePolicy.http
  var headers = RequestHeaders()
  typealias Response = String
}
