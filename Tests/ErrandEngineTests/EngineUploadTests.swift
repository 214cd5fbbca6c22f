#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import ErrandTesting
  import Foundation
  import Synchronization
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  struct EngineUploadTests {
    private static func post(_ url: String, _ body: HTTPBody) throws -> Exchange {
      Exchange(request: try HTTPRequest(method: .post, url: url, body: body))
    }

    @Test func `a body with Expect: 100-continue waits for status 100`() async throws {
      let server = try LoopbackServer { _ in .ok("taken") }
      for size in [3, 300_000] {
        let body = HTTPBody(Data(repeating: 7, count: size)).expectingContinue()
        let transport = EngineTransport()
        for _ in 0..<2 { #expect(try await transport.send(Self.post(server.url, body)).text == "taken") }
        let seen = try #require(server.requests.last)
        #expect(seen.headers["Expect"] == "100-continue" && seen.bodyLength == size)
      }
      #expect(server.connectionCount == 2)
    }

    @Test func `an empty body has no expectation`() async throws {
      let server = try LoopbackServer { _ in .ok("taken") }
      let empty: [HTTPBody] = [
        HTTPBody(Data()), .stream(length: 0) { flow in PieceSource([], .init(), flow) { _ in } },
      ]
      for body in empty {
        let exchange = try Self.post(server.url, body.expectingContinue())
        #expect(try await EngineTransport().send(exchange).text == "taken")
      }
      #expect(server.requests.map { $0.headers["Expect"] } == [nil, nil])
      #expect(server.requests.map { $0.headers["Content-Length"] } == ["0", "0"])
    }

    @Test func `a body is sent after one second without status 100`() async throws {
      let server = try LoopbackServer()
      server.enqueue(.ok("taken"), reception: .withoutContinue)
      let begun = ContinuousClock.now
      let body = HTTPBody(Data([1, 2, 3])).expectingContinue()
      #expect(try await EngineTransport().send(Self.post(server.url, body)).text == "taken")
      #expect(server.requests.first?.body == [1, 2, 3])
      #expect(ContinuousClock.now - begun >= .seconds(1))
    }

    @Test(arguments: [LoopbackAnswer.status(417, body: "no"), .status(417, body: "no").cut(after: 1)])
    func `a request is sent again without Expect after status 417`(refusal: LoopbackAnswer) async throws {
      let server = try LoopbackServer { $0.headers["Expect"] == nil ? .ok("taken") : refusal }
      let body = HTTPBody(Data([1, 2, 3])).expectingContinue()
      let response = try await EngineTransport().send(Self.post(server.url, body))
      #expect(response.text == "taken")
      #expect(server.requests.last?.body == [1, 2, 3] && server.requests.last?.headers["Expect"] == nil)
    }

    @Test(arguments: [401, 403, 413, 500])
    func `an error response instead of status 100 is the response`(status: Int) async throws {
      let holds = try await withinTheSecond {
        let opened = PieceSource.Log()
        let server = try LoopbackServer { _ in .status(status, body: "no") }
        let body = HTTPBody.stream(length: 1) { flow in PieceSource([.bytes([1])], opened, flow) { _ in } }
          .expectingContinue()
        let exchange = Exchange(request: try HTTPRequest(method: .post, url: server.url, body: body))
        server.enqueue(.status(status, body: "no"), reception: .never)
        let response = try await EngineTransport().send(exchange)
        #expect(response.status == status && response.text == "no")
        return opened.opened == 0
      }
      #expect(holds)
    }

    @Test func `a file arrives completely`() async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
      let data = randomBytes(3_000_000, seed: 7)
      try data.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let server = try LoopbackServer { _ in .ok("taken") }
      #expect(try await EngineTransport().send(Self.post(server.url, .file(file))).text == "taken")
      #expect(try await server.request(number: 1).body == Array(data))
    }

    @Test func `a source is read no faster than the server reads`() async throws {
      let gate = Gate()
      let server = try LoopbackServer()
      server.enqueue(.ok("taken"), reception: .held(gate))
      let given = Counter()
      let body = HTTPBody.stream(length: 64 << 20) { _ in CountingSource(given, end: 64 << 20) }
      let transport = EngineTransport()
      async let response = transport.send(Self.post(server.url, body))
      try await gate.reached()
      // Only the bytes that fit into the system's buffers are read, however long the server waits.
      var before = -1
      while before != given.value {
        before = given.value
        for _ in 0..<200 { await Task.yield() }
      }
      #expect(before < 32 << 20)
      gate.open()
      #expect(try await response.text == "taken")
      #expect(given.value == 64 << 20)
    }

    @Test func `a response before a reset is read`() async throws {
      for _ in 0..<20 {
        let server = try LoopbackServer()
        server.enqueue(.status(413, body: "too much").then(.reset), reception: .never)
        let exchange = try Self.post(server.url, HTTPBody(Data(count: 4 << 20)))
        // A reset may discard the response in the server's own system before it is sent.
        do {
          let response = try await EngineTransport().send(exchange)
          #expect(response.status == 413 && response.text == "too much")
        } catch let failure as TransportFailure {
          #expect([.closedBeforeResponse, .reset].contains(failure.kind) && !failure.isCertainlyNotSent)
        }
      }
    }

    @Test func `a complete early response is returned even if the body never ends`() async throws {
      let log = PieceSource.Log()
      let server = try LoopbackServer()
      server.enqueue(.ok("early").closing(), reception: .never)
      let body = HTTPBody.stream { _ in EndlessSource(log) }
      #expect(try await EngineTransport().send(Self.post(server.url, body)).text == "early")
      #expect(log.closed == 1)
    }

    @Test func `a connection that closes while the source waits is an error`() async throws {
      let server = try LoopbackServer()
      server.enqueue(.closeBeforeAnswer, reception: .never)
      let body = HTTPBody.stream { flow in PieceSource([.bytes([1]), .later], .init(), flow) { _ in } }
      let failure = await TransportConformance.failure(
        of: try Self.post(server.url, body), over: EngineTransport())
      #expect(failure?.kind == .closedBeforeResponse && failure?.isCertainlyNotSent == false)
    }

    @Test func `no idle time-out runs while the source waits`() async throws {
      let server = try LoopbackServer { _ in .ok("taken") }
      let body = HTTPBody.stream { flow in
        PieceSource([.bytes([1]), .later, .bytes([2])], .init(), flow) { flow in
          _ = SharedTimers.shared.schedule(at: .now.advanced(by: .milliseconds(5_500))) { flow.resume() }
        }
      }
      let request = try HTTPRequest(method: .post, url: server.url, body: body)
      let exchange = Exchange(request: request, idleTimeout: .seconds(5))
      #expect(try await EngineTransport().send(exchange).text == "taken")
    }

    @Test func `a body with bytes is rejected if its announced length is 0`() async throws {
      let server = try LoopbackServer { _ in .ok() }
      let body = HTTPBody.stream(length: 0) { flow in PieceSource([.bytes([1])], .init(), flow) { _ in } }
      let exchange = try Self.post(server.url, body)
      let failure = await TransportConformance.failure(of: exchange, over: EngineTransport())
      #expect(failure?.kind == .bodyChanged)
      #expect(server.requests.isEmpty)
    }
  }

  /// Gives bytes until `end`, and counts them.
  final class CountingSource: BodySource {
    private let given: Counter
    private let end: Int

    init(_ given: Counter, end: Int) {
      self.given = given
      self.end = end
    }

    func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead {
      let count = min(room.count, end - given.value)
      given.add(count)
      return count > 0 ? .bytes(count) : .end
    }
  }
#endif
