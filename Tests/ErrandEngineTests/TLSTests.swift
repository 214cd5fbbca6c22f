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

  /// TLS over real sockets: handshakes, bodies, the end of the stream and the reuse of connections.
  struct TLSTests {
    /// Answers every request with `body` until the client closes.
    private static func answering(_ body: String = "ok") -> @Sendable (TLSServer.Peer) -> Void {
      { peer in
        guard peer.accept() else { return }
        while peer.readRequest() != nil { peer.answer(body) }
      }
    }

    private static func get(_ server: TLSServer, _ change: (inout EngineConfiguration) -> Void = { _ in }) async throws
      -> HTTPResponse
    {
      try await TransportConformance.get(server.transport(change), server.url)
    }

    private static func failure(
      _ server: TLSServer, _ transport: EngineTransport? = nil, method: HTTPMethod = .get
    ) async throws -> TransportFailure? {
      let request = try HTTPRequest(method: method, url: server.url)
      return await TransportConformance.failure(
        of: Exchange(request: request), over: try transport ?? server.transport())
    }

    // MARK: - Connections

    @Test func `connections are reused and measured`() async throws {
      let server = try TLSServer(Self.answering())
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
      let server = try TLSServer(identity: TLSIdentity { tls_server_use_tls_1_2($0) }, Self.answering())
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
      let transport = try server.transport()
      let exchange = Exchange(request: try HTTPRequest(url: server.url))
      let failure = await TransportConformance.failure(of: exchange, over: transport)
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

    // MARK: - Names and protocols

    @Test func `the server name is sent for names only`() async throws {
      let server = try TLSServer { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        peer.answer(peer.name ?? "none")
      }
      let transport = try server.transport()
      #expect(try await TransportConformance.get(transport, "https://localhost:\(server.port)/").text == "localhost")
      #expect(try await TransportConformance.get(transport, server.url).text == "none")
    }

    @Test func `HTTP 1.1 is offered in the handshake`() async throws {
      for (choice, isChosen) in [("\u{8}http/1.1", true), ("\u{2}h2", false)] {
        let chosen = Locked<String?>(nil)
        let server = try TLSServer(identity: TLSIdentity { tls_server_choose($0, choice) }) { peer in
          guard peer.accept() else { return }
          chosen.withLock { $0 = peer.protocolName ?? "none" }
          while peer.readRequest() != nil { peer.answer("ok") }
        }
        #expect(try await Self.get(server) { $0.httpVersion = .http1Only }.text == "ok")
        #expect(chosen.withLock { $0 } == (isChosen ? "http/1.1" : "none"))
      }
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
      #expect(try await Self.get(server).text == "hello")
    }

    @Test func `a body that ends without an announced end is truncated`() async throws {
      let server = try TLSServer { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        peer.write("HTTP/1.1 200 OK\r\n\r\nhello")
      }
      let failure = try await Self.failure(server)
      #expect(failure?.kind == .truncated)
      #expect(failure?.description.contains("close notification") == true)
    }

    @Test func `a complete body needs no announced end`() async throws {
      let server = try TLSServer { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        peer.answer("hello")
      }
      #expect(try await Self.get(server).text == "hello")
    }

    @Test(arguments: [true, false])
    func `a shortened body is truncated`(isAnnounced: Bool) async throws {
      let server = try TLSServer { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        if isAnnounced { peer.sayEnd() }
      }
      #expect(try await Self.failure(server)?.kind == .truncated)
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

    // MARK: - Failed handshakes

    @Test func `garbage instead of a handshake is a TLS failure`() async throws {
      let server = try TLSServer { peer in
        peer.writePlain("SSH-2.0-OpenSSH_9.2\r\n")
        peer.waitForEnd()
      }
      let failure = try await Self.failure(server)
      #expect(failure?.kind == .tls && failure?.isCertainlyNotSent == true)
    }

    /// Within one call, OpenSSL reads messages until the handshake continues or the socket has no more bytes.
    @Test func `a flood of messages in the handshake ends it`() async throws {
      let server = try TLSServer { peer in
        var byte: UInt8 = 0
        _ = recv(peer.descriptor, &byte, 1, 0)
        // A record of HelloRequest messages, which a client ignores (RFC 5246 section 7.4.1.1).
        let record = "\u{16}\u{3}\u{3}@\0" + String(repeating: "\0", count: 16 << 10)
        for _ in 0..<200 { peer.writePlain(record) }
        peer.readPlain()
      }
      let failure = try await Self.failure(server)
      #expect(failure?.kind == .tls && failure?.isCertainlyNotSent == true)
      #expect(failure?.description.contains("unexpected message") == true)
    }

    @Test func `a server without TLS is named`() async throws {
      let server = try LoopbackServer { _ in .ok() }
      let request = try HTTPRequest(url: "https://127.0.0.1:\(server.port)/")
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: EngineTransport())
      #expect(failure?.kind == .tls && failure?.isCertainlyNotSent == true)
      #expect(failure?.description.contains("does not speak TLS on this port") == true)
    }

    @Test(arguments: [true, false])
    func `a connection that breaks in the handshake is not sent`(isReset: Bool) async throws {
      let server = try TLSServer { peer in
        var byte: UInt8 = 0
        _ = recv(peer.descriptor, &byte, 1, 0)
        if isReset { peer.reset() } else { peer.readPlain() }
      }
      let failure = try await Self.failure(server, method: .post)
      #expect(failure?.kind == .closedBeforeResponse && failure?.isCertainlyNotSent == true)
    }

    @Test func `a stalled handshake meets the connect time-out`() async throws {
      let server = try TLSServer { $0.waitForEnd() }
      let exchange = Exchange(request: try HTTPRequest(url: server.url), connectTimeout: .milliseconds(100))
      let failure = await TransportConformance.failure(of: exchange, over: try server.transport())
      #expect(failure?.kind == .connectTimeout && failure?.isCertainlyNotSent == true)
      #expect(failure?.metrics?.connect != nil && failure?.metrics?.tls == nil)
    }

    @Test func `a stalled handshake can be cancelled`() async throws {
      let (reached, ended) = (Latch(), Latch())
      let server = try TLSServer { peer in
        reached.open()
        peer.waitForEnd()
        ended.open()
      }
      let call = CallState()
      let exchange = Exchange(request: try HTTPRequest(url: server.url), call: call)
      let transport = try server.transport()
      async let stopped = TransportConformance.stop(of: exchange, over: transport)
      try await reached.wait()
      call.stop(.cancelled)
      #expect(await stopped == .cancelled)
      await ended.waitStubbornly()
    }

    // MARK: - Trust

    @Test func `an unknown certificate is refused before a byte of the request`() async throws {
      let requests = Locked(0)
      let server = try TLSServer { peer in
        guard peer.accept() else { return }
        if peer.readRequest() != nil { requests.withLock { $0 += 1 } }
      }
      let failure = try await Self.failure(server, EngineTransport())
      #expect(failure?.kind == .certificateSelfSigned && failure?.isCertainlyNotSent == true)
      #expect(requests.withLock { $0 } == 0)
    }

    /// RFC 9525 section 6.3.
    @Test(arguments: ["whole.test", "one.two.whole.test", "partial.wild.test"])
    func `a wildcard stands for the whole first label`(host: String) async throws {
      let server = try TLSServer(Self.answering())
      let transport = try server.transport {
        $0.addressOverrides = ["\(host):\(server.port)": "127.0.0.1", "one.whole.test:\(server.port)": "127.0.0.1"]
      }
      let request = try HTTPRequest(url: "https://\(host):\(server.port)/")
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
      #expect(failure?.kind == .wrongHost)
      let url = "https://one.whole.test:\(server.port)/"
      #expect(try await TransportConformance.get(transport, url).text == "ok")
    }

    @Test(arguments: ["\u{8}http/1.1", "\u{2}h2"])
    func `a missing client certificate is reported after the handshake`(choice: String) async throws {
      let identity = try TLSIdentity {
        tls_server_choose($0, choice)
        tls_server_require_certificate($0)
      }
      let server = try TLSServer(identity: identity) { peer in
        _ = peer.accept()
        peer.waitForEnd()
      }
      let failure = try await Self.failure(server)
      #expect(failure?.kind == .clientCertificateRequired)
      let (connect, tls) = (try #require(failure?.metrics?.connect), try #require(failure?.metrics?.tls))
      #expect(connect < tls)
    }

    @Test func `a reset of a used connection is no certificate failure`() async throws {
      let server = try TLSServer(identity: TLSIdentity { tls_server_ask_for_certificate($0) }) { peer in
        guard peer.accept(), peer.readRequest() != nil else { return }
        peer.answer("ok")
        guard peer.readRequest() != nil else { return }
        peer.reset()
      }
      let transport = try server.transport()
      #expect(try await TransportConformance.get(transport, server.url).text == "ok")
      #expect(try await Self.failure(server, transport, method: .post)?.kind == .closedBeforeResponse)
    }

    @Test func `pins are checked before a byte of the request`() async throws {
      let requests = Locked(0)
      let ended = Latch()
      let server = try TLSServer { peer in
        if peer.accept(), peer.readRequest() != nil { requests.withLock { $0 += 1 } }
        ended.open()
      }
      let pins = [7, 8].map { Data(repeating: $0, count: 32).base64EncodedString() }
      let transport = try server.transport { $0.pins = [PublicKeyPins(host: "127.0.0.1", sha256: pins)] }
      let failure = try await Self.failure(server, transport)
      #expect(failure?.kind == .pinMismatch && failure?.isCertainlyNotSent == true)
      await ended.waitStubbornly()
      #expect(requests.withLock { $0 } == 0)
    }
  }
#endif
