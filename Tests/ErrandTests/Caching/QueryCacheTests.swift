import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Testing

/// Stored and shared responses to QUERY (RFC 10008 section 2.7).
struct QueryCacheTests {
  struct Find: APIRequest {
    typealias Response = String
    var query: String
    var type = "application/sql"
    var cache: CachePolicy = .http
    var headers: RequestHeaders = [:]
    var path: Path { "/contacts" }
    var method: HTTPMethod { .query }
    var body: RequestBody? { .bytes(Data(query.utf8), type: type) }
  }

  /// A server that answers with the query and the number of the request.
  private static func client(
    _ fields: HTTPFields, _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> ScriptedClient {
    let count = Recorded<Int>()
    return ScriptedClient({
      $0.cache.store = .own(ResponseCache(store: MemoryStore()))
      change(&$0)
    }) { request in
      count.append(1)
      return .text("\(request.text ?? "-") \(count.count)", fields: fields)
    }
  }

  @Test func `equal query is served from the cache`() async throws {
    let client = Self.client(["Cache-Control": "max-age=60"]).client
    let first = try await client.response(Find(query: "a"))
    let second = try await client.response(Find(query: "a"))
    #expect(first.value == "a 1" && second.value == "a 1" && second.origin == .cacheFresh)
  }

  @Test(arguments: [
    Find(query: "b"), Find(query: "a", type: "text/plain"),
    Find(query: "a", headers: ["Content-Language": "de"]), Find(query: "a", headers: ["Content-Encoding": "aes"]),
  ])
  func `other query is sent`(other: Find) async throws {
    let client = Self.client(["Cache-Control": "max-age=60"]).client
    _ = try await client.send(Find(query: "a"))
    #expect(try await client.response(other).value.hasSuffix(" 2"))
    #expect(try await client.response(other).origin == .cacheFresh)
    #expect(try await client.send(Find(query: "a")) == "a 1")
  }

  @Test func `GET and QUERY have separate entries`() async throws {
    let client = Self.client(["Cache-Control": "max-age=60"]).client
    _ = try await client.send(Find(query: "a"))
    #expect(try await client.send(KeptText(path: "/contacts")) == "- 2")
    #expect(try await client.send(Find(query: "a")) == "a 1")
  }

  @Test func `POST removes the entries of the URL`() async throws {
    let client = Self.client(["Cache-Control": "max-age=60"]).client
    _ = try await client.send(Find(query: "a"))
    _ = try await client.send(KeptText(path: "/contacts", method: .post))
    #expect(try await client.send(Find(query: "a")) == "a 3")
  }

  @Test func `QUERY removes no entry`() async throws {
    let client = Self.client(["Cache-Control": "max-age=60"]).client
    _ = try await client.send(KeptText(path: "/contacts"))
    _ = try await client.send(Find(query: "a", cache: .none))
    #expect(try await client.send(KeptText(path: "/contacts")) == "- 1")
  }

  @Test func `lifetime of the client applies`() async throws {
    let client = Self.client([:]) { $0.cache.policy = .lifetime(.seconds(60)) }.client
    _ = try await client.send(Find(query: "a", cache: .inherited))
    #expect(try await client.response(Find(query: "a", cache: .inherited)).origin == .cacheFresh)
  }

  @Test func `byte range is cut from the stored response`() async throws {
    let client = Self.client(["Cache-Control": "max-age=60"]).client
    _ = try await client.send(Find(query: "0123456789"))
    let part = try await client.response(Find(query: "0123456789", headers: ["Range": "bytes=2-4"]))
    #expect(part.value == "234" && part.status == 206 && part.origin == .cacheFresh)
  }

  @Test func `response that is not stored removes the outdated one`() async throws {
    let bench = ScriptedClient(answers: [
      .text("old", fields: ["Cache-Control": "max-age=60"]), .text("new", fields: ["Cache-Control": "no-store"]),
    ]) { $0.cache.store = .own(ResponseCache(store: MemoryStore())) }
    _ = try await bench.client.send(Find(query: "a"))
    var options = CallOptions()
    options.cache = .ignoringCache
    #expect(try await bench.client.send(Find(query: "a"), options: options) == "new")
    #expect(await bench.client.cache?.entries().isEmpty == true)
  }

  @Test func `only equal queries share an exchange`() async {
    for (other, count) in [("a", 1), ("b", 2)] {
      let fixture = JoinFixture()
      let one = Task { await fixture.client.outcome(of: Find(query: "a", cache: .none)) }
      await fixture.exchange.reached()
      let two = Task { await fixture.client.outcome(of: Find(query: other, cache: .none)) }
      #expect(await fixture.waiting(2))
      fixture.exchange.open()
      #expect(await one.value.value == "value")
      #expect(await two.value.value == "value")
      #expect(fixture.asked == count)
    }
  }
}
