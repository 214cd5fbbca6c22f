import Errand
import ErrandHTTP
import ErrandCache
import ErrandTesting
import Testing

/// `Cache-Status` over a real socket with each transport, with the examples of RFC 9211 section 3.
struct CacheStatusSocketTests {
  private static let examples = [
    "ExampleCache; hit", "ExampleCache; hit; ttl=376", "ExampleCache; hit; ttl=-412",
    "ExampleCache; fwd=uri-miss", "ExampleCache; fwd=uri-miss; stored", "ExampleCache; fwd=stale; fwd-status=304",
    "ExampleCache; fwd=uri-miss; fwd-status=200; collapsed", "ExampleCache; fwd=vary-miss; stored; collapsed",
    "ExampleCache; fwd=bypass", "ExampleCache; fwd=request", "ExampleCache; hit; detail=MEMORY",
    "ReverseProxyCache; hit, ForwardProxyCache; fwd=uri-miss; collapsed; stored, BrowserCache; fwd=uri-miss",
    "OriginCache; hit; ttl=1100, \"CDN Company Here\"; hit; ttl=545",
  ]

  /// What each example says, in the words of ``summary(_:)``.
  private static let expected = [
    ["ExampleCache hit"], ["ExampleCache hit ttl 376"], ["ExampleCache hit ttl -412"], ["ExampleCache uri-miss"],
    ["ExampleCache uri-miss stored"], ["ExampleCache stale 304"], ["ExampleCache uri-miss 200 collapsed"],
    ["ExampleCache vary-miss stored collapsed"], ["ExampleCache bypass"], ["ExampleCache request"],
    ["ExampleCache hit detail MEMORY"],
    ["ReverseProxyCache hit", "ForwardProxyCache uri-miss stored collapsed", "BrowserCache uri-miss"],
    ["OriginCache hit ttl 1100", "CDN Company Here hit ttl 545"],
  ]

  private static func summary(_ cache: ServerCache) -> String {
    let parts: [String?] = [
      cache.name, cache.isHit ? "hit" : nil, cache.forward, cache.forwardStatus.map { "\($0)" },
      cache.secondsLeft.map { "ttl \($0)" }, cache.isStored ? "stored" : nil, cache.isCollapsed ? "collapsed" : nil,
      cache.key.map { "key \($0)" }, cache.detail.map { "detail \($0)" },
    ]
    return parts.compactMap { $0 }.joined(separator: " ")
  }

  @Test(arguments: Carrier.allCases) func `report lists the caches of the server`(carrier: Carrier) async throws {
    let server = try LoopbackServer { request in
      .status(
        200,
        headers: [
          "Cache-Status": "\(Self.examples[(request.number - 1) % Self.examples.count])", "Cache-Control": "max-age=60",
        ],
        body: "\(request.number)")
    }
    defer { server.stop() }
    let transport = carrier.transport()
    let client = transport.client(at: server) { $0.cache.store = .own(ResponseCache(store: MemoryStore())) }
    for (index, example) in Self.examples.enumerated() {
      let page = KeptText(path: "/\(index)")
      let response = try await client.response(page)
      let own = try #require(response.metrics.cache)
      #expect(own.status.hasPrefix("Errand; fwd=miss; fwd-status=200; stored"))
      #expect(own.servers.map(Self.summary) == Self.expected[index], "\(example)")
      #expect(response.raw.serverCaches == own.servers)
      let hit = try await client.response(page).metrics.cache
      #expect(hit?.status.hasPrefix("Errand; hit") == true && hit?.servers == own.servers)
    }
    let last = try await client.response(KeptText(path: "/12")).raw.serverCaches
    #expect(last.map(\.name) == ["OriginCache", "CDN Company Here"] && last.map(\.secondsLeft) == [1_100, 545])
    transport.expectToHaveCarriedAll(of: server)
  }
}
