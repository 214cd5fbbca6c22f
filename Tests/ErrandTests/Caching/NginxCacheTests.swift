import Errand
import ErrandCache
import Foundation
import Testing

/// The cache with nginx, which serves files with `ETag` and `Last-Modified`.
@Suite(.serialized) struct NginxCacheTests {
  private struct File: APIRequest {
    let name: String
    var method = HTTPMethod.get
    var cache = CachePolicy.http
    var headers = RequestHeaders()
    var path: Path { "/\(name)" }
  }

  /// A file of this test in the folder that nginx serves.
  private final class Served {
    let name = "cache-\(UUID().uuidString)"
    let url: URL

    init(_ text: String) throws {
      url = URL(filePath: try Servers.address("ERRAND_NGINX_FILES")).appending(path: name)
      try write(text)
    }

    func write(_ text: String) throws { try Data(text.utf8).write(to: url, options: .atomic) }

    deinit { try? FileManager.default.removeItem(at: url) }
  }

  private static func client(_ cache: ResponseCache = ResponseCache(store: MemoryStore())) throws -> APIClient {
    try Servers.nginx { $0.cache.store = .own(cache) }
  }

  @Test func `file is revalidated with 304`() async throws {
    let file = try Served("first")
    let client = try Self.client()
    let first = try await client.response(File(name: file.name), options: .cache(.revalidating))
    let second = try await client.response(File(name: file.name), options: .cache(.revalidating))
    #expect(first.origin == .network && second.origin == .revalidated)
    #expect(second.value == Data("first".utf8) && second.status == 200)
    #expect(second.fields[.eTag] == first.fields[.eTag] && second.fields[.contentLength] == "5")
    #expect(second.metrics.cache?.status.contains("fwd-status=304") == true)
  }

  @Test func `changed file is loaded again`() async throws {
    let file = try Served("first")
    let client = try Self.client()
    _ = try await client.send(File(name: file.name))
    try file.write("second, longer")
    let changed = try await client.response(File(name: file.name), options: .cache(.revalidating))
    #expect(changed.value == Data("second, longer".utf8) && changed.origin == .network)
  }

  @Test func `compressed file is revalidated`() async throws {
    let client = try Self.client()
    let first = try await client.response(File(name: "10k.json"), options: .cache(.revalidating))
    let second = try await client.response(File(name: "10k.json"), options: .cache(.revalidating))
    #expect(first.fields[.contentEncoding] == "gzip" && first.fields[.eTag]?.hasPrefix("W/") == true)
    #expect(second.origin == .revalidated && second.value == first.value)
  }

  @Test func `declared lifetime needs no request`() async throws {
    let file = try Served("first")
    let client = try Self.client()
    let request = File(name: file.name, cache: .lifetime(.seconds(60)))
    _ = try await client.send(request)
    try file.write("second")
    let hit = try await client.response(request)
    #expect(hit.value == Data("first".utf8) && hit.origin == .cacheFresh && hit.metrics.attempts == 0)
  }

  @Test func `HEAD and ranges are separate`() async throws {
    let file = try Served("first")
    let cache = ResponseCache(store: MemoryStore())
    let client = try Self.client(cache)
    let lifetime = CachePolicy.lifetime(.seconds(60))
    let part = try await client.response(File(name: file.name, headers: ["Range": "bytes=1-2"]))
    #expect(part.status == 206 && part.value == Data("ir".utf8))
    #expect(await cache.entries().isEmpty)
    let head = try await client.response(File(name: file.name, method: .head, cache: lifetime))
    #expect(head.value.isEmpty && head.fields[.contentLength] == "5")
    #expect(try await client.send(File(name: file.name, cache: lifetime)) == Data("first".utf8))
  }

  @Test func `missing file is not served from cache`() async throws {
    let file = try Served("first")
    let client = try Self.client()
    _ = try await client.send(File(name: file.name))
    try FileManager.default.removeItem(at: file.url)
    let error = await client.outcome(of: File(name: file.name), options: .cache(.revalidating)).error
    #expect(error?.status == 404)
    #expect(await client.outcome(of: File(name: file.name), options: .cache(.cacheOnly)).value == nil)
  }

  @Test func `cached then fresh delivers a change`() async throws {
    let file = try Served("first")
    let client = try Self.client()
    var seen: [String] = []
    for text in ["first", "first", "second"] {
      try file.write(text)
      for try await answer in client.cachedThenFresh(File(name: file.name)) {
        seen.append("\(String(decoding: answer.value, as: UTF8.self)) \(answer.origin.isFromCache)")
      }
    }
    #expect(seen.first == "first false")
    #expect(seen.last == "second false" && seen.dropLast().last == "first true")
  }
}
