#if os(Linux)
  import CTLSServer
  import ErrandCore
  import ErrandHTTP
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// Handshakes of TLS over real sockets: names, protocols, failures and the trust in the server.
  struct TLSHandshakeTests {
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
        #expect(try await server.get { $0.httpVersion = .http1Only }.text == "ok")
        #expect(chosen.withLock { $0 } == (isChosen ? "http/1.1" : "none"))
      }
    }

    // MARK: - Failed handshakes

    @Test func `garbage instead of a handshake is a TLS failure`() async throws {
      let server = try TLSServer { peer in
        peer.writePlain("SSH-2.0-OpenSSH_9.2\r\n")
        peer.waitForEnd()
      }
      let failure = try await server.failure()
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
      let failure = try await server.failure()
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
      let failure = try await server.failure(method: .post)
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
      let ended = Latch()
      let server = try TLSServer { peer in
        if peer.accept(), peer.readRequest() != nil { requests.withLock { $0 += 1 } }
        ended.open()
      }
      let failure = try await server.failure(over: EngineTransport())
      #expect(failure?.kind == .certificateSelfSigned && failure?.isCertainlyNotSent == true)
      await ended.waitStubbornly()
      #expect(requests.withLock { $0 } == 0)
    }

    /// RFC 9525 section 6.3.
    @Test(arguments: ["whole.test", "one.two.whole.test", "partial.wild.test"])
    func `a wildcard matches the whole first label`(host: String) async throws {
      let server = try TLSServer(TLSServer.answersAll)
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
      let failure = try await server.failure()
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
      #expect(try await server.failure(over: transport, method: .post)?.kind == .closedBeforeResponse)
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
      let failure = try await server.failure(over: transport)
      #expect(failure?.kind == .pinMismatch && failure?.isCertainlyNotSent == true)
      await ended.waitStubbornly()
      #expect(requests.withLock { $0 } == 0)
    }
  }
#endif
