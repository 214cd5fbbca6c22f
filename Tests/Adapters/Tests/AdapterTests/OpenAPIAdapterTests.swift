import Errand
import ErrandAdapters
import ErrandTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import Testing

struct OpenAPIAdapterTests {
  private struct Broken: Error, Equatable {}

  /// Pieces that can be read again, and an error after them.
  private struct Pieces: AsyncSequence, Sendable {
    typealias Element = ArraySlice<UInt8>
    var pieces: [String]
    var failure: Broken?

    func makeAsyncIterator() -> Iterator { Iterator(rest: pieces[...], failure: failure) }

    struct Iterator: AsyncIteratorProtocol {
      var rest: ArraySlice<String>
      let failure: Broken?

      mutating func next() async throws -> ArraySlice<UInt8>? {
        if let piece = rest.popFirst() { return ArraySlice(piece.utf8) }
        if let failure { throw failure }
        return nil
      }
    }
  }

  private func client(
    _ server: LoopbackServer, _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.retries = RetryPolicy(firstDelay: .zero, busyDelay: .zero)
    change(&configuration)
    return APIClient(configuration)
  }

  private func send(
    _ method: HTTPTypes.HTTPRequest.Method = .get, path: String = "/notes", fields: HTTPTypes.HTTPFields = [:],
    body: OpenAPIRuntime.HTTPBody? = nil, base: String, id: String = "listNotes", by transport: ErrandTransport
  ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
    let request = HTTPTypes.HTTPRequest(
      method: method, scheme: nil, authority: nil, path: path, headerFields: fields)
    return try await transport.send(request, body: body, baseURL: #require(URL(string: base)), operationID: id)
  }

  private func text(_ body: OpenAPIRuntime.HTTPBody?) async throws -> String {
    try await String(collecting: #require(body), upTo: 1 << 20)
  }

  // MARK: - Requests and responses

  @Test func `operation is a call with its tag`() async throws {
    let server = try LoopbackServer { _ in .text("two", fields: ["X-B": "1", "x-b": "2"]) }
    let client = client(server) {
      $0.record = .ring(calls: 4)
      $0.headers = ["X-App": "7"]
    }
    let key = try #require(HTTPTypes.HTTPField.Name("X-Key"))
    var fields: HTTPTypes.HTTPFields = [.accept: "text/plain"]
    fields.append(HTTPTypes.HTTPField(name: key, value: "1"))
    fields.append(HTTPTypes.HTTPField(name: key, value: "2"))
    let (response, body) = try await send(
      path: "/notes/a%2Fb?q=1%202", fields: fields, base: server.url + "/v1/", by: ErrandTransport(client: client))
    #expect(response.status.code == 200)
    #expect(response.headerFields[values: try #require(HTTPTypes.HTTPField.Name("X-B"))] == ["1", "2"])
    #expect(body?.length == .known(3))
    #expect(try await text(body) == "two")
    let request = try await server.request(number: 1)
    #expect(request.target == "/v1/notes/a%2Fb?q=1%202")
    #expect(request.headers.values("X-Key") == ["1", "2"])
    #expect(request.headers.values("Accept") == ["text/plain"])
    #expect(request.headers["X-App"] == "7")
    #expect(client.flightRecord.calls.map(\.tag) == ["listNotes"])
  }

  @Test func `base without a host is below the client's`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let transport = ErrandTransport(client: client(server))
    _ = try await send(base: "/", by: transport)
    _ = try await send(base: "/v2", by: transport)
    #expect(server.requests.map(\.target) == ["/notes", "/v2/notes"])
  }

  @Test(arguments: [301, 304, 404, 500]) func `every status is a response`(_ status: Int) async throws {
    let server = try LoopbackServer { _ in .status(status, body: status == 304 ? "" : "why") }
    let transport = ErrandTransport(client: client(server) { $0.redirects = .manual })
    let (response, body) = try await send(base: server.url, by: transport)
    #expect(response.status.code == status)
    #expect(try await text(body) == (status == 304 ? "" : "why"))
  }

  @Test func `longest body of an error is thrown`() async throws {
    let server = try LoopbackServer { request in
      .status(404, body: String(repeating: "z", count: (1 << 20) - (request.target == "/short" ? 1 : 0)))
    }
    let transport = ErrandTransport(client: client(server))
    let (response, body) = try await send(path: "/short", base: server.url, by: transport)
    #expect(response.status.code == 404)
    #expect(try await text(body).utf8.count == (1 << 20) - 1)
    let error = await #expect(throws: APIError.self) { try await send(base: server.url, by: transport) }
    #expect(error?.code == .status)
    #expect(error?.response?.status == 404)
  }

  @Test func `tag of the options is kept`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let client = client(server) { $0.record = .ring(calls: 4) }
    let transport = ErrandTransport(client: client, options: CallOptions(tag: "mine"))
    _ = try await text(send(base: server.url, by: transport).1)
    #expect(client.flightRecord.calls.map(\.tag) == ["mine"])
  }

  @Test func `HEAD has no body`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let (response, body) = try await send(.head, base: server.url, by: ErrandTransport(client: client(server)))
    #expect(response.status.code == 200)
    #expect(body == nil)
  }

  /// A released body cancels its call. The response has no content, so the client has nothing to read.
  @Test(arguments: [HTTPTypes.HTTPRequest.Method.head, .get, .delete])
  func `response without content ends its call`(_ method: HTTPTypes.HTTPRequest.Method) async throws {
    let server = try LoopbackServer { $0.method == "DELETE" ? .status(204) : .ok() }
    let client = client(server) { $0.record = .ring(calls: 100) }
    let transport = ErrandTransport(client: client)
    for _ in 0..<50 { _ = try await send(method, base: server.url, by: transport) }
    #expect(client.flightRecord.calls.count == 50)
    for call in client.flightRecord.calls {
      if case .failure = call.outcome { Issue.record("\(call.outcome)") }
    }
  }

  @Test func `failure without a response is thrown`() async throws {
    let port = try RefusingPort()
    let transport = ErrandTransport(client: APIClient(baseURL: port.url))
    let error = await #expect(throws: APIError.self) { try await send(base: port.url, by: transport) }
    #expect(error?.stage == .transport)
    #expect(error?.cause != nil)
  }

  @Test func `field that cannot be sent fails the call`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let name = try #require(HTTPTypes.HTTPField.Name("Odd"))
    var fields: HTTPTypes.HTTPFields = [:]
    fields.append(HTTPTypes.HTTPField(name: name, value: [0xFF]))
    let sent = fields
    let error = await #expect(throws: APIError.self) {
      try await send(path: "/", fields: sent, base: server.url, by: ErrandTransport(client: client(server)))
    }
    #expect(error?.code == .invalidHeader)
    #expect(error?.cause is HTTPConversionError)
    #expect(server.requests.isEmpty)
  }

  // MARK: - Request bodies

  @Test func `body of unknown length is streamed`() async throws {
    let server = try LoopbackServer { _ in .status(201) }
    let (pieces, continuation) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
    let body = OpenAPIRuntime.HTTPBody(pieces, length: .unknown, iterationBehavior: .single)
    async let outcome = send(
      .post, fields: [.contentType: "text/csv"], body: body, base: server.url,
      by: ErrandTransport(client: client(server)))
    continuation.yield(ArraySlice("a,b\n".utf8))
    continuation.yield(ArraySlice("c,d\n".utf8))
    continuation.finish()
    #expect(try await outcome.0.status.code == 201)
    let request = try await server.request(number: 1)
    #expect(request.bodyText == "a,b\nc,d\n")
    #expect(request.headers.values("Content-Type") == ["text/csv"])
    #expect(request.headers["Transfer-Encoding"] == "chunked")
  }

  @Test(arguments: [20, 200_000]) func `body of known length is counted`(_ count: Int) async throws {
    let server = try LoopbackServer { _ in .ok() }
    let body = OpenAPIRuntime.HTTPBody(
      Pieces(pieces: [String(repeating: "x", count: count)]), length: .known(Int64(count)),
      iterationBehavior: .multiple)
    _ = try await send(
      .post, fields: [.contentLength: "\(count)"], body: body, base: server.url,
      by: ErrandTransport(client: client(server)))
    let request = try await server.request(number: 1)
    #expect(request.bodyLength == count)
    #expect(request.headers.values("Content-Length") == ["\(count)"])
    #expect(request.headers["Content-Type"] == nil)
  }

  @Test(arguments: [2, 200_000]) func `body of another length fails`(_ count: Int) async throws {
    let server = try LoopbackServer { _ in .ok() }
    let body = OpenAPIRuntime.HTTPBody(
      Pieces(pieces: ["abc"]), length: .known(Int64(count)), iterationBehavior: .multiple)
    let error = await #expect(throws: APIError.self) {
      try await send(.post, body: body, base: server.url, by: ErrandTransport(client: client(server)))
    }
    #expect(error?.stage == .transport)
  }

  @Test(arguments: [OpenAPIRuntime.HTTPBody.Length.unknown, .known(6)])
  func `error of a body is the cause`(_ length: OpenAPIRuntime.HTTPBody.Length) async throws {
    let server = try LoopbackServer { _ in .ok() }
    let body = OpenAPIRuntime.HTTPBody(
      Pieces(pieces: ["abc"], failure: Broken()), length: length, iterationBehavior: .multiple)
    let error = await #expect(throws: APIError.self) {
      try await send(.post, body: body, base: server.url, by: ErrandTransport(client: client(server)))
    }
    #expect("\(try #require(error?.cause))".contains("Broken"))
  }

  // MARK: - Retries and the cache

  @Test func `body that can be read again is retried`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.status(503), .status(503), .ok("done"))
    let part = String(repeating: "y", count: 100_000)
    let body = OpenAPIRuntime.HTTPBody(
      Pieces(pieces: [part, part]), length: .unknown, iterationBehavior: .multiple)
    let (response, reply) = try await send(
      .put, body: body, base: server.url, by: ErrandTransport(client: client(server)))
    #expect(response.status.code == 200)
    #expect(try await text(reply) == "done")
    #expect(server.requests.map(\.bodyLength) == [200_000, 200_000, 200_000])
  }

  @Test func `body that is read once is not retried`() async throws {
    let server = try LoopbackServer { _ in .status(503, body: "busy") }
    let body = OpenAPIRuntime.HTTPBody(Pieces(pieces: ["x"]), length: .unknown, iterationBehavior: .single)
    let (response, reply) = try await send(
      .put, body: body, base: server.url, by: ErrandTransport(client: client(server)))
    #expect(response.status.code == 503)
    #expect(try await text(reply) == "busy")
    #expect(server.requests.count == 1)
  }

  @Test func `POST is not retried`() async throws {
    let server = try LoopbackServer { _ in .status(503) }
    let body = OpenAPIRuntime.HTTPBody("x")
    let (response, _) = try await send(.post, body: body, base: server.url, by: ErrandTransport(client: client(server)))
    #expect(response.status.code == 503)
    #expect(server.requests.count == 1)
  }

  @Test func `cache serves safe methods`() async throws {
    let server = try LoopbackServer { _ in .ok("stored") }
    let client = client(server)
    let transport = ErrandTransport(client: client, cache: .lifetime(.seconds(600)))
    for _ in 0..<2 { #expect(try await text(send(base: server.url, by: transport).1) == "stored") }
    #expect(server.requests.count == 1)
    for _ in 0..<2 { _ = try await send(.post, path: "/other", base: server.url, by: transport) }
    #expect(server.requests.count == 3)
    client.configure { $0.cache.policy = .lifetime(.seconds(600)) }
    _ = try await text(send(base: server.url, by: ErrandTransport(client: client)).1)
    #expect(server.requests.count == 3)
    _ = try await text(send(base: server.url, by: ErrandTransport(client: client, cache: .none)).1)
    #expect(server.requests.count == 4)
  }

  // MARK: - Streams

  @Test func `response arrives piece by piece`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      LoopbackAnswer([
        .head(status: 200, headers: ["Content-Length": "4"]), .body(Array("ab".utf8)), .wait(gate),
        .body(Array("cd".utf8)),
      ])
    }
    let (_, body) = try await send(base: server.url, by: ErrandTransport(client: client(server)))
    var pieces = try #require(body).makeAsyncIterator()
    let first = try await pieces.next()
    #expect(first == ArraySlice("ab".utf8))
    gate.open()
    let second = try await pieces.next()
    #expect(second == ArraySlice("cd".utf8))
    let third = try await pieces.next()
    #expect(third == nil)
  }

  @Test func `consumer that stops cancels the call`() async throws {
    let server = try LoopbackServer { _ in .endless() }
    let (_, body) = try await send(base: server.url, by: ErrandTransport(client: client(server)))
    for try await _ in try #require(body) { break }
    try await server.wait { $0.openConnectionCount == 0 }
    withExtendedLifetime(body) {}
  }

  @Test func `body that is released cancels the call`() async throws {
    let server = try LoopbackServer { _ in .endless() }
    _ = try await send(base: server.url, by: ErrandTransport(client: client(server)))
    try await server.wait { $0.openConnectionCount == 0 }
  }

  @Test func `cancelled task cancels the call`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("late").held(at: gate) }
    let transport = ErrandTransport(client: client(server))
    let task = Task { try await send(base: server.url, by: transport) }
    try await gate.reached()
    task.cancel()
    let error = await #expect(throws: APIError.self) { try await task.value }
    #expect(error?.stage == .cancelled)
    try await server.wait { $0.openConnectionCount == 0 }
  }

  @Test func `body that breaks off throws the error`() async throws {
    let server = try LoopbackServer { _ in .ok("abcdef").cut(after: 3) }
    let (_, body) = try await send(base: server.url, by: ErrandTransport(client: client(server)))
    let error = await #expect(throws: APIError.self) { for try await _ in try #require(body) {} }
    #expect(error?.stage == .transport)
  }
}
