#if os(Linux)
  import CTLSServer
  import ErrandCore
  import ErrandHTTP
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// Servers that fall silent, and PING frames without an answer.
  struct HTTP2PingTests {
    /// The server asks for a client certificate, so a broken connection could mean that it requires one.
    @Test func `silence is no certificate failure`() async throws {
      let frames = try FrameServer { peer, _ in
        if peer.number == 1 { return peer.drain() }
        try peer.start()
        try peer.serve { peer.respond($0.stream, "ok") }
      }
      let identity = try TLSIdentity {
        tls_server_choose($0, "\u{2}h2")
        tls_server_ask_for_certificate($0)
      }
      let server = try TLSServer(identity: identity) { peer in if peer.accept() { peer.relay(to: frames.port) } }
      let transport = try server.transport {
        $0.pingAfter = .zero
        $0.pingWait = .milliseconds(100)
      }
      let url = server.url
      let origin = try HTTPURL(url).origin
      let first = Exchange(request: try HTTPRequest(url: url))
      async let failure = TransportConformance.failure(of: first, over: transport)
      let isSent = try await HTTP2.eventually(on: transport) { loop in
        loop.sharedPool.first(of: origin, where: { _ in true })?.streams.count == 1
      }
      #expect(isSent)
      // This request uses the connection again and sends PING. It may be repeated, the first one may not.
      #expect(try await TransportConformance.get(transport, url).text == "ok")
      #expect(await failure?.kind == .closedBeforeResponse)
      #expect(frames.connections == 2)
    }
  }
#endif
