import Errand
import ErrandCache
import ErrandTesting
import Testing

/// `No-Vary-Search` over a real socket with each transport.
struct EquivalentURLSocketTests {
  private struct Product: APIRequest {
    var path: Path { "/product" }
    var arguments: Arguments
    var cache: CachePolicy { .http }
    typealias Response = String
  }

  @Test(arguments: Carrier.allCases) func `campaign of a link does not matter`(carrier: Carrier) async throws {
    let server = try LoopbackServer { request in
      .status(
        200, headers: ["Cache-Control": "max-age=600", "No-Vary-Search": #"except=("productId")"#],
        body: "\(request.number)")
    }
    defer { server.stop() }
    let transport = carrier.transport()
    let client = transport.client(at: server) { $0.cache.store = .own(ResponseCache(store: MemoryStore())) }
    let first = try await client.response(Product(arguments: ["productId": 7, "utm_source": "mail"]))
    let second = try await client.response(Product(arguments: ["utm_source": "web", "productId": 7, "lang": "en"]))
    let third = try await client.response(Product(arguments: ["productId": 8, "utm_source": "mail"]))
    #expect([first, second, third].map(\.origin) == [.network, .cacheFresh, .network])
    #expect(second.value == first.value && third.value != first.value)
    #expect(server.requests.count == 2)
    transport.expectToHaveCarriedAll(of: server)
  }
}
