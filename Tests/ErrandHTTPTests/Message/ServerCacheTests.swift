import ErrandHTTP
import Foundation
import Testing

/// `Cache-Status` of a response, with the examples of RFC 9211.
struct ServerCacheTests {
  private func caches(_ lines: String...) throws -> [ServerCache] {
    let fields = HTTPFields(lines.map { HTTPField("Cache-Status", $0) })
    return HTTPResponse(head: ResponseHead(status: 200, fields: fields), url: try HTTPURL("http://h/")).serverCaches
  }

  private func only(_ line: String) throws -> ServerCache { try #require(try caches(line).first) }

  @Test func `caches are listed from the server on`() throws {
    let both = try caches("OriginCache; hit; ttl=1100, \"CDN Company Here\"; hit; ttl=545")
    #expect(both.map(\.name) == ["OriginCache", "CDN Company Here"])
    #expect(both.allSatisfy { $0.isHit } && both.map(\.secondsLeft) == [1100, 545])
    #expect(try caches("OriginCache; hit; ttl=1100", "\"CDN Company Here\"; hit; ttl=545") == both)
  }

  @Test func `hit may be fresh or stale`() throws {
    #expect(try only("ExampleCache; hit").isHit)
    #expect(try only("ExampleCache; hit").secondsLeft == nil)
    #expect(try only("ExampleCache; hit; ttl=376").secondsLeft == 376)
    #expect(try only("ExampleCache; hit; ttl=-412").secondsLeft == -412)
  }

  @Test(arguments: ["bypass", "uri-miss", "stale", "other"])
  func `reason of forwarding is read`(reason: String) throws {
    let cache = try only("ExampleCache; fwd=\(reason)")
    #expect(cache.forward == reason && !cache.isHit && !cache.isStored && !cache.isCollapsed)
  }

  @Test func `validation has the status of the server`() throws {
    let cache = try only("ExampleCache; fwd=stale; fwd-status=304")
    #expect(cache.forward == "stale" && cache.forwardStatus == 304)
  }

  @Test func `several caches report their own handling`() throws {
    let all = try caches(
      "ReverseProxyCache; hit", "ForwardProxyCache; fwd=uri-miss; collapsed; stored", "BrowserCache; fwd=uri-miss")
    #expect(all.map(\.isHit) == [true, false, false] && all.map(\.isCollapsed) == [false, true, false])
    #expect(all.map(\.isStored) == [false, true, false] && all.map(\.forward) == [nil, "uri-miss", "uri-miss"])
    #expect(try !only("ExampleCache; fwd=miss; collapsed=?0").isCollapsed)
  }

  @Test func `key and detail are texts`() throws {
    let cache = try only("ExampleCache; hit; detail=MEMORY; key=\"https://example.com/a?b=c\"; x-unknown=5")
    #expect(cache.detail == "MEMORY" && cache.key == "https://example.com/a?b=c")
  }

  @Test func `parameters of wrong types are ignored`() throws {
    let cache = try only("ExampleCache; hit=1; fwd=2; fwd-status=a; ttl=1.5; stored=yes; key=?1; detail=:AQ==:")
    #expect(cache == (try only("ExampleCache")))
  }

  @Test(arguments: ["", "A; hit,", "A; hit; ttl=", "A hit", "; hit"]) func `invalid field lists no cache`(line: String)
    throws
  {
    #expect(try caches(line).isEmpty && caches().isEmpty)
    #expect(try caches("5; hit, (A), B; hit").map(\.name) == ["B"])
  }
}
