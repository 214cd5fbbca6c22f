#if os(Linux)
  import CTLSServer
  import ErrandCore
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// TLS over real sockets: bodies, the end of the stream and the reuse of connections.
  struct TLSTests {
    // MARK: - Connections

    @Test func `connections are reused and measured`() async throws {
      let server = try TLSServer(TLSServer.answersAll)
      let transport = try server.transport()
      let first = try await TransportConformance.get(transport, server.url)
      #expect(first.text == "ok")
      let connect = try #require(first.metrics.connect)
      let tls = try #require(first.metrics.tls)
      let firstByte = try #require(first.metrics.firstByte)
      #expect(connect < tls && tls < firstByte)
      let second = try await TransportConformance.get(transport, server.url)
      #expect(second.metrics.isConnectionReused == true && second.metrics.tls == nil)
      #expect(server.connections == 1)
    }

    @Test func `TLS 1.2 connections are reused`() async throws {
      let server = try TLSServer(identity: TLSIdentity { tls_server_use_tls_1_2($0) }, TLSServer.answersAll)
      let transport = try server.transport()
      for _ in 0..<3 { #expect(try await TransportConformance.get(transport, server.url).text == "ok") }
      #expect(server.connections == 1)
    }

    @Test func `session tickets keep connections usable`() async throws {
      let server = try TLSServer { peer in
        guard peer.accept() else { return }
        while peer.readRequest() != nil {
          peer.answer("ok")
          _ = peer.sendTicket()
        }
      }
      let transport = try server.transport()
      for _ in 0..<20 { #expect(try await TransportConformance.get(transport, server.url).text == "ok") }
      #expect(server.connections == 1)
    }

    @Test func `a flood of tickets ends the connection`() async throws {
      let server = try TLSServer { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        while peer.sendTicket() {}
      }
      let failure = try await server.failure()
      #expect(failure?.kind == .reset || failure?.kind == .closedBeforeResponse, "\(failure as Any)")
    }

    @Test func `a ticket does not hide the end of the stream`() async throws {
      let server = try TLSServer { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        _ = peer.sendTicket()
      }
      let transport = try server.transport()
      for _ in 0..<50 {
        let request = try HTTPRequest(method: .post, url: server.url)
        let exchange = Exchange(request: request, idleTimeout: .seconds(30))
        #expect(await TransportConformance.failure(of: exchange, over: transport)?.kind == .closedBeforeResponse)
      }
    }

    /// Sends five requests to a server that calls `finish` after each response. Each request waits for the end of
    /// `finish`, and needs a new connection.
    private static func expectReplacements(
      _ method: HTTPMethod, _ finish: @escaping @Sendable (TLSServer.Peer) -> Void
    ) async throws {
      let (finished, finishing) = AsyncStream<Void>.makeStream()
      let server = try TLSServer { peer in
        guard peer.accept() else { return }
        while peer.readRequest() != nil {
          peer.answer("ok")
          finish(peer)
          finishing.yield()
        }
      }
      let transport = try server.transport()
      var finishes = finished.makeAsyncIterator()
      for _ in 0..<5 {
        let request = try HTTPRequest(method: method, url: server.url)
        #expect(try await transport.send(Exchange(request: request)).text == "ok")
        await finishes.next()
      }
      #expect(server.connections == 5)
    }

    @Test func `bytes without a request end an idle connection`() async throws {
      try await Self.expectReplacements(.get) { $0.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong") }
    }

    @Test func `a connection that the server closed is replaced`() async throws {
      try await Self.expectReplacements(.post) { $0.sayEnd() }
    }

    @Test func `key updates do not disturb bodies`() async throws {
      let server = try TLSServer(receiveBuffer: 4096) { peer in
        guard peer.accept() else { return }
        while peer.readRequest() != nil {
          guard peer.read(1 << 19).count == 1 << 19, peer.updateKeys() else { return }
          guard peer.read(1 << 19).count == 1 << 19, peer.updateKeys() else { return }
          peer.answer("ok")
        }
      }
      let transport = try server.transport()
      for _ in 0..<3 {
        let request = try HTTPRequest(
          method: .put, url: server.url, body: HTTPBody(Data(repeating: 3, count: 1 << 20)))
        #expect(try await transport.send(Exchange(request: request)).text == "ok")
      }
      #expect(server.connections == 1)
    }

    // MARK: - Bodies

    @Test func `a failed body fails no other call`() async throws {
      let isAllowed = DispatchGroup()
      isAllowed.enter()
      let server = try TLSServer { peer in
        guard isAllowed.wait(timeout: .now() + 30) == .success, peer.accept() else { return }
        while peer.readRequest() != nil { peer.answer("ok") }
      }
      let file = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      try Data("before".utf8).write(to: file)
      let post = Exchange(request: try HTTPRequest(method: .post, url: server.url, body: .file(file)))
      try Data("after".utf8).write(to: file)
      let transport = try server.transport()
      async let failure = TransportConformance.failure(of: post, over: transport)
      #expect(await eventually { server.connections == 1 })
      // These calls wait for the connection that the first call opens.
      let begun = Counter()
      let texts = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<5 {
          group.addTask {
            begun.add()
            return try await TransportConformance.get(transport, server.url).text
          }
        }
        #expect(await eventually { begun.value == 5 })
        isAllowed.leave()
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(texts == [String](repeating: "ok", count: 5))
      #expect(await failure?.kind == .bodyChanged)
    }

    @Test func `large bodies pass in both directions`() async throws {
      let loopback = try LoopbackServer { request in .data(request.body) }
      let server = try TLSServer(receiveBuffer: 4096) { peer in if peer.accept() { peer.relay(to: loopback.port) } }
      let transport = try server.transport()
      let body = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
      for _ in 0..<3 {
        let request = try HTTPRequest(method: .put, url: server.url, body: HTTPBody(body))
        #expect(try await transport.send(Exchange(request: request)).body == body)
      }
      #expect(server.connections == 1)
    }

    @Test func `64 calls at once are answered`() async throws {
      let server = try TLSServer { peer in
        guard peer.accept() else { return }
        while let request = peer.readRequest() {
          peer.answer(String(request.split(separator: " ")[1]) + String(repeating: "x", count: 20_000))
        }
      }
      let transport = try server.transport()
      try await withThrowingTaskGroup { group in
        for number in 0..<64 {
          group.addTask {
            for round in 0..<5 {
              let text = try await TransportConformance.get(transport, "\(server.url)/\(number)-\(round)").text
              #expect(text.hasPrefix("/\(number)-\(round)x") && text.utf8.count > 20_000)
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(server.connections <= 64)
    }

    // MARK: - The end of the stream

    @Test func `a body that ends with an announced end is complete`() async throws {
      let server = try TLSServer { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        peer.write("HTTP/1.1 200 OK\r\n\r\nhello")
        peer.sayEnd()
        peer.waitForEnd()
      }
      #expect(try await server.get().text == "hello")
    }

    @Test func `a body that ends without an announced end is truncated`() async throws {
      let server = try TLSServer { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        peer.write("HTTP/1.1 200 OK\r\n\r\nhello")
      }
      let failure = try await server.failure()
      #expect(failure?.kind == .truncated)
      #expect(failure?.description.contains("close notification") == true)
    }

    @Test func `a complete body needs no announced end`() async throws {
      let server = try TLSServer { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        peer.answer("hello")
      }
      #expect(try await server.get().text == "hello")
    }

    @Test(arguments: [true, false])
    func `a shortened body is truncated`(isAnnounced: Bool) async throws {
      let server = try TLSServer { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        if isAnnounced { peer.sayEnd() }
      }
      #expect(try await server.failure()?.kind == .truncated)
    }

    @Test func `a reset in the body is reported`() async throws {
      let hasArrived = DispatchSemaphore(value: 0)
      let server = try TLSServer { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        hasArrived.wait()
        peer.reset()
      }
      let exchange = Exchange(request: try HTTPRequest(url: server.url), onProgress: { _ in hasArrived.signal() })
      #expect(await TransportConformance.failure(of: exchange, over: try server.transport())?.kind == .reset)
    }

    @Test func `a reset during an upload does not end the process`() async throws {
      let server = try TLSServer(receiveBuffer: 4096) { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        peer.reset()
      }
      let transport = try server.transport()
      for _ in 0..<10 {
        let request = try HTTPRequest(
          method: .put, url: server.url, body: HTTPBody(Data(repeating: 1, count: 4 << 20)))
        let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
        #expect(failure?.kind == .closedBeforeResponse && failure?.isCertainlyNotSent == false)
      }
    }
  }
#endif
