import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Testing

/// QUERY over a real socket with each transport, with the examples of RFC 10008 appendix A.
struct QuerySocketTests {
  private func exchange(_ carrier: Carrier, _ answers: LoopbackAnswer..., run: (APIClient) async throws -> Void)
    async throws -> [RecordedRequest]
  {
    let rest = Recorded(answers)
    let server = try LoopbackServer { _ in rest.takeFirst() ?? .status(500) }
    defer { server.stop() }
    let transport = carrier.transport()
    try await run(transport.client(at: server) { $0.cache.store = .own(ResponseCache(store: MemoryStore())) })
    transport.expectToHaveCarriedAll(of: server)
    return server.requests
  }

  @Test(arguments: Carrier.allCases) func `simple query`(carrier: Carrier) async throws {
    let text = "select=surname,givenname,email&limit=10&match=%22email=*@example.*%22"
    let requests = try await exchange(carrier, .json(#"[{"surname":"Smith"}]"#)) { client in
      let body = RequestBody.bytes(Data(text.utf8), type: "application/x-www-form-urlencoded")
      let found = try await client.query("/contacts", as: JSONValue.self, body: body)
      #expect(found[0]?["surname"] == "Smith")
    }
    #expect(requests[0].method == "QUERY" && requests[0].target == "/contacts")
    #expect(requests[0].headers["Content-Type"] == "application/x-www-form-urlencoded")
    #expect(requests[0].headers["Content-Length"] == "\(text.utf8.count)")
    #expect(String(decoding: requests[0].body, as: UTF8.self) == text)
  }

  @Test(arguments: Carrier.allCases) func `query without a body has length 0`(carrier: Carrier) async throws {
    let requests = try await exchange(carrier, .ok("[]")) { try await $0.query("/contacts") }
    #expect(requests[0].method == "QUERY" && requests[0].headers["Content-Length"] == "0")
  }

  @Test(arguments: Carrier.allCases) func `formats are discovered`(carrier: Carrier) async throws {
    let fields: LoopbackHeaders = ["Accept-Query": "application/x-www-form-urlencoded, application/sql"]
    _ = try await exchange(carrier, .status(200, fields: fields)) { client in
      let types = try await client.head("/contacts").raw.acceptQuery
      #expect(types.map(\.essence) == ["application/x-www-form-urlencoded", "application/sql"])
    }
  }

  @Test(arguments: Carrier.allCases) func `indirect response is fetched by GET`(carrier: Carrier) async throws {
    let requests = try await exchange(
      carrier, .redirect(to: "/contacts/stored-queries/42", status: 303), .ok("[1]")
    ) { client in
      let found = try await client.query("/contacts", as: [Int].self, arguments: ["limit": 10])
      #expect(found == [1])
    }
    #expect(requests.map(\.method) == ["QUERY", "GET"])
    #expect(requests[1].target == "/contacts/stored-queries/42" && requests[1].body.isEmpty)
    #expect(requests[1].headers["Content-Type"] == nil && requests[1].headers["Content-Length"] == nil)
  }

  @Test(arguments: Carrier.allCases) func `repeated query is conditional`(carrier: Carrier) async throws {
    let changed = "Sun, 31 Aug 2025 08:44:00 GMT"
    let fields: LoopbackHeaders = [
      "Last-Modified": changed, "Cache-Control": "no-cache", "Vary": "Accept-Query, Content-Type",
    ]
    let requests = try await exchange(
      carrier, .text("decade", fields: fields), .status(304, fields: fields), .text("again", fields: fields)
    ) { client in
      let find = QueryCacheTests.Find(query: "...")
      #expect(try await client.send(find) == "decade")
      let second = try await client.response(find)
      #expect(second.value == "decade" && second.origin == .revalidated)
      #expect(try await client.send(QueryCacheTests.Find(query: "other")) == "again")
    }
    #expect(requests.map { $0.headers["If-Modified-Since"] } == [nil, changed, nil])
    #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["...", "...", "other"])
  }
}
