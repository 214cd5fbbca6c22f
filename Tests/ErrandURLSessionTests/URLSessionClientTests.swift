import Errand
import ErrandHTTP
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TransportChecks

@testable import ErrandURLSession

/// The client with URLSession, chosen by its name. Uses only responses that do not crash Foundation.
struct URLSessionClientTests {
  private struct Get: APIRequest {
    let at: String
    var path: Path { "/\(at)" }
    var overlap: Overlap { Overlap(joining: .never) }
    typealias Response = String
  }

  private struct Post: APIRequest {
    let body: RequestBody?
    var path: Path { "/post" }
    var method: HTTPMethod { .post }
    typealias Response = String
  }

  private static func client(_ server: LoopbackServer) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.transport = .urlSession
    return APIClient(configuration)
  }

  @Test func `the name is registered at first use`() {
    guard case .named("urlsession") = TransportChoice.urlSession else {
      Issue.record("another name")
      return
    }
    #expect(TransportRegistry.shared.names.contains("urlsession"))
    #expect(TransportRegistry.shared.transport(named: "urlsession") is URLSessionTransport)
  }

  @Test func `requests are sent and responses received`() async throws {
    let server = try LoopbackServer { request in
      .ok(request.method + " " + String(decoding: request.body, as: UTF8.self))
    }
    let client = Self.client(server)
    #expect(try await client.send(Get(at: "a")) == "GET ")
    #expect(try await client.send(Post(body: .text("hello"))) == "POST hello")
    #expect(try await client.send(Post(body: nil)) == "POST ")
    let seen = try #require(server.requests.first)
    #expect(seen.headers["Accept-Encoding"] == "gzip")
    #expect(seen.headers["User-Agent"]?.hasPrefix("Errand") == true)
  }

  @Test func `the interceptors validate the status`() async throws {
    let server = try LoopbackServer { _ in .status(404, body: "not here") }
    let error = await Self.client(server).outcome(of: Get(at: "a")).error
    #expect(error?.stage == .validate)
    #expect(error?.response?.status == 404)
    #expect(error?.response?.body == Data("not here".utf8))
  }

  @Test func `the interceptors follow redirects`() async throws {
    let other = try LoopbackServer { request in .ok(request.headers["Authorization"] ?? "no credential") }
    let server = try LoopbackServer { request in
      request.path == "/near" ? .redirect(to: "/there") : .redirect(to: other.url + "/far")
    }
    let client = Self.client(server)
    client.configure { $0.headers.set("Authorization", "Bearer secret") }
    let response = try await client.response(Get(at: "near"))
    #expect(response.value == "no credential")
    #expect(server.requests.map(\.path) == ["/near", "/there"])
    #expect(other.requests.count == 1)
  }

  @Test func `a rejected credential is reported`() async throws {
    let server = try LoopbackServer { request in
      request.headers["Authorization"] == "Bearer new"
        ? .ok("in") : .status(401, headers: ["WWW-Authenticate": "Bearer"])
    }
    let client = Self.client(server)
    let error = await client.outcome(of: Get(at: "a")).error
    #expect(error?.response?.status == 401)
    client.configure { $0.headers.set("Authorization", "Bearer new") }
    #expect(try await client.send(Get(at: "a")) == "in")
    #expect(server.requests.count == 2)
  }

  @Test func `URLSession stores no cookies`() async throws {
    let server = try LoopbackServer { _ in .status(200, headers: ["Set-Cookie": "a=1"], body: "x") }
    let client = Self.client(server)
    for _ in 0..<2 { _ = try await client.send(Get(at: "a")) }
    #expect(server.requests.map { $0.headers["Cookie"] } == [nil, nil])
  }

  @Test func `the client's jar gets each cookie`() async throws {
    let server = try LoopbackServer { request in
      .ok(request.headers["Cookie"] ?? "none").adding("Set-Cookie", "a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT")
        .adding("Set-Cookie", "b=2")
    }
    let client = Self.client(server)
    client.configure { $0.cookies = .jar(CookieJar()) }
    #expect(try await client.send(Get(at: "a")) == "none")
    #expect(try await client.send(Get(at: "b")) == "a=1; b=2")
  }

  @Test func `a coded body is decoded once`() async throws {
    let coded = try #require(Data(base64Encoded: "H4sIAAAAAAACA0stKkrMS1FIHQwUAFrIB/+MAAAA"))
    let server = try LoopbackServer { _ in .data(coded).setting("Content-Encoding", to: "gzip") }
    let value = try await Self.client(server).send(Get(at: "a"))
    #expect(value == String(repeating: "errand ", count: 20))
  }

  @Test func `a large body arrives complete`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 8 << 20) }
    struct Bytes: APIRequest { var path: Path { "/large" } }
    let body = try await Self.client(server).send(Bytes())
    #expect(body == Data((0..<(8 << 20)).map { LoopbackAnswer.generatedByte(at: $0) }))
  }

  @Test func `cancelling closes the connection`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    let client = Self.client(server)
    let task = Task { await client.outcome(of: Get(at: "a")).error }
    try await server.request(number: 1)
    task.cancel()
    #expect(await task.value?.stage == .cancelled)
    try await server.wait { $0.openConnectionCount == 0 }
  }

  @Test func `the deadline ends the call`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    let (client, clock) = (Self.client(server), ManualClock())
    client.configure { $0.timers = clock }
    async let outcome = client.outcome(of: Get(at: "a"), options: .deadline(.milliseconds(150)))
    try await server.request(number: 1)
    clock.advance(by: .milliseconds(150))
    #expect(await outcome.error?.stage == .deadline)
    #expect(server.requests.count == 1)
  }

  @Test func `an idle time-out below a second works`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    let options = CallOptions(timeouts: Timeouts(idle: .milliseconds(150)))
    let error = await Self.client(server).outcome(of: Get(at: "a"), options: options).error
    #expect((error?.cause as? TransportFailure)?.kind == .idleTimeout)
  }

  @Test func `files, file ranges and forms are sent`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
    try bytes.write(to: file)
    let server = try LoopbackServer { request in .ok(String(request.body.count)) }
    let client = Self.client(server)
    #expect(try await client.send(Post(body: .file(file))) == "300000")
    #expect(server.requests.first.map { Data($0.body) } == bytes)
    #expect(server.requests.first?.headers.values("Content-Length") == ["300000"])
    #expect(try await client.send(Post(body: .body(.file(file, range: 5..<290_000)))) == "289995")
    #expect(server.requests.last.map { Data($0.body) } == bytes[5..<290_000])
    _ = try await client.send(
      Post(body: .multipart([.file("f", file), .data("d", Data(repeating: 7, count: 80_000))])))
    let form = try #require(server.requests.last)
    #expect(form.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
    #expect(form.headers["Content-Length"] == "\(form.body.count)")
    #expect(Data(form.body).range(of: bytes) != nil)
  }

  @Test func `progress has the total of a stream`() async throws {
    let server = try LoopbackServer { _ in .ok("taken") }
    let body = HTTPBody.stream { flow in
      PieceSource([.bytes(Array(repeating: 1, count: 500_000))], .init(), flow, onLater: { _ in })
    }
    let seen = Locked<[TransferProgress]>([])
    let request = try HTTPRequest(method: .post, url: server.url, body: body)
    _ = try await URLSessionTransport().send(
      Exchange(request: request, onProgress: { report in seen.withLock { $0.append(report) } }))
    let last = try #require(seen.withLock { $0.last { $0.direction == .upload } })
    #expect(last.bytes == 500_000 && last.total == 500_000)
  }

  @Test func `a stream is rejected before sending`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let client = Self.client(server)
    do {
      _ = try await client.stream(Get(at: "a"))
      Issue.record("streamed")
    } catch {
      #expect(error.stage == .build)
      #expect(error.message.contains("capability bodySink"))
    }
    #expect(server.requests.isEmpty)
  }

  @Test func `the connection limit is kept`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("x").held(at: gate) }
    var settings = URLSessionSettings()
    settings.connectionsPerHost = 2
    let transport = try URLSessionTransport(settings)
    let client = Self.client(server)
    client.configure { $0.transport = .own(transport) }
    async let values = client.outcomes(of: (0..<5).map { Get(at: "\($0)") }, width: 5)
    try await server.wait { $0.requests.count == 2 }
    gate.letPass(5)
    #expect(await values.compactMap { try? $0.get() } == Array(repeating: "x", count: 5))
    #expect(server.connectionCount <= 2)
  }

  @Test func `the transport leaks nothing`() async throws {
    let server = try LoopbackServer { _ in .ok("x") }
    let leaks = LeakCheck()
    do {
      let transport = URLSessionTransport()
      leaks.watch(transport, "transport")
      for watched in transport.watched { leaks.watch(watched, "\(type(of: watched))") }
      for method in [HTTPMethod.get, .post] {
        let request = try HTTPRequest(method: method, url: server.url)
        #expect(try await transport.send(Exchange(request: request)).status == 200)
      }
    }
    #expect(await leaks.survivors(turns: 500_000).isEmpty)
    try await server.wait { $0.openConnectionCount == 0 }
  }
}
