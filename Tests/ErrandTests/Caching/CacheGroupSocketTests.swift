import Errand
import ErrandCache
import ErrandTesting
import Testing

/// Cache groups (RFC 9875) over a real socket with each transport.
struct CacheGroupSocketTests {
  @Test(arguments: Carrier.allCases) func `vote invalidates the listed groups`(carrier: Carrier) async throws {
    let server = try LoopbackServer { request in
      if request.method == "POST" {
        return .status(
          200,
          headers: ["Content-Type": "text/html", "Cache-Group-Invalidation": #""eurovision-results", "australia""#])
      }
      let groups =
        switch request.path {
        case "/results": #""eurovision-results";since=1956"#
        case "/kangaroos": #""animals", "australia""#
        default: #""scripts""#
        }
      return .status(
        200, headers: ["Cache-Control": "max-age=3600", "Cache-Groups": "\(groups)"], body: "\(request.number)")
    }
    defer { server.stop() }
    let transport = carrier.transport()
    let client = transport.client(at: server) { $0.cache.store = .own(ResponseCache(store: MemoryStore())) }
    let pages = ["results", "kangaroos", "site.js"].map { KeptText(path: "/\($0)") }
    for page in pages { _ = try await client.send(page) }
    _ = try await client.send(KeptText(path: "/vote", method: .post, cache: .none))
    var origins: [ResponseOrigin] = []
    for page in pages { origins.append(try await client.response(page).origin) }
    #expect(origins == [.network, .network, .cacheFresh])
    #expect(server.requests.map(\.path) == ["/results", "/kangaroos", "/site.js", "/vote", "/results", "/kangaroos"])
    transport.expectToHaveCarriedAll(of: server)
  }
}
