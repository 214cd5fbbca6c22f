import Errand
import ErrandTesting
import Foundation
import Testing

/// Calls that need no request type.
struct OneOffTests {
  struct User: Codable, Sendable, Equatable { let nick: String }

  private static let ada = User(nick: "Ada")

  private func bench(_ change: (inout ClientConfiguration) -> Void = { _ in }) -> ScriptedClient {
    ScriptedClient(change) { _ in .json(#"{"nick":"Ada"}"#) }
  }

  @Test func `get sends path, arguments and headers`() async throws {
    let bench = bench()
    let name = "a/b"
    let user = try await bench.client.get(
      "/users/\(name)", as: User.self, arguments: ["page": 2], headers: ["X-A": "1"], options: .tag("t"))
    #expect(user == Self.ada)
    let sent = try #require(bench.transport.requests.last)
    #expect(sent.method == .get && sent.url.string == "http://h.example/users/a%2Fb?page=2")
    #expect(sent.fields["X-A"] == "1" && sent.fields[.accept] == "application/json" && sent.body == nil)
  }

  @Test func `each verb sends its method and body`() async throws {
    let bench = bench { $0.formats.arguments = .jsonByMethod }
    let client = bench.client
    #expect(try await client.post("/u", as: User.self, arguments: ["a": 1]) == Self.ada)
    #expect(try await client.put("/u", as: User.self, body: .json(Self.ada)) == Self.ada)
    #expect(try await client.patch("/u", as: User.self, arguments: ["a": 1], body: .text("x")) == Self.ada)
    #expect(try await client.delete("/u", as: User.self, arguments: ["a": 1]) == Self.ada)
    let sent = bench.transport.requests
    #expect(sent.map(\.method) == [.post, .put, .patch, .delete])
    #expect(sent.map(\.text) == [#"{"a":1}"#, #"{"nick":"Ada"}"#, "x", nil])
    #expect(sent.map(\.url.query) == [nil, nil, "a=1", "a=1"])
  }

  @Test func `head and options return the response`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/none" ? .status(404) : .json("[1]").setting("Allow", to: "GET, HEAD").setting("X-A", to: "b")
    }
    let client = APIClient(baseURL: server.url)
    let head = try await client.head("/u", arguments: ["page": 2], headers: ["X-C": "1"], options: .tag("t"))
    #expect(head.status == 200 && head.fields["X-A"] == "b" && head.raw.body.isEmpty)
    #expect(try await client.options("/u").fields["Allow"] == "GET, HEAD")
    #expect(try await client.options("/u", as: [Int].self).value == [1])
    #expect(server.requests.map { "\($0.method) \($0.target)" } == ["HEAD /u?page=2", "OPTIONS /u", "OPTIONS /u"])
    for method in [HTTPMethod.head, .options] {
      do throws(APIError) {
        if method == .head { try await client.head("/none") } else { try await client.options("/none") }
        Issue.record("no error")
      } catch {
        #expect(error.status == 404)
      }
    }
  }

  @Test func `type is optional and inferred`() async throws {
    let bench = bench()
    try await bench.client.delete("/u")
    let user: User = try await bench.client.get("/u", as: User.self)
    let text = try await bench.client.get("/u", as: String.self)
    #expect(user == Self.ada && text == #"{"nick":"Ada"}"#)
    let bytes = try await bench.client.get("/u", as: Data.self)
    #expect(bytes.count == text.utf8.count)
  }

  @Test func `failure is an APIError`() async {
    let client = ScriptedClient(answer: { _ in .status(404) }).client
    do throws(APIError) {
      try await client.get("/u", as: User.self)
      Issue.record("no error")
    } catch {
      #expect(error.status == 404)
    }
  }

  @Test func `groups accept one-off requests`() async throws {
    let client = ScriptedClient { _ in
    } answer: { request in
      request.url.path == "/n" ? .json("7") : .json(#"{"nick":"Ada"}"#)
    }.client
    let (user, number) = try await client.batch(
      OneOff(.get, "/u", as: User.self), OneOff(.get, "/n", as: Int.self, arguments: ["a": 1]))
    #expect(user == Self.ada && number == 7)
    let sum = try await client.chain { chain in
      let first = try await chain.send(OneOff(.get, "/n", as: Int.self))
      return try await chain.send(OneOff(.post, "/n", as: Int.self, arguments: ["a": first])) + first
    }
    #expect(sum == 14)
    #expect(try await client.response(OneOff(.head, "/u")).status == 200)
  }

  @Test func `call starts without closures`() async {
    let latch = Latch()
    let bench = ScriptedClient(answer: { _ in
      try await latch.wait()
      return .status(200)
    })
    let call = bench.client.start(OneOff(.get, "/u"), options: .tag("seen"))
    await latch.reached()
    #expect(call.isExecuting && bench.client.running.count == 1)
    call.cancel()
    #expect(call.isCancelled && bench.transport.requests.count == 1)
  }
}
