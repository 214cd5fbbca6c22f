#if os(Linux)
  import CTLSServer
  import Dispatch
  import ErrandCore
  import ErrandHTTP
  import ErrandTesting
  import TestSupport
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// Calls that wait for a connection while the streams of another connection are in use.
  struct HTTP2WaitingTests {
    /// A server whose first connection takes one stream, answers the first request and holds the second one until
    /// `mayAnswer`. Its other connections never answer the handshake.
    private static func busyServer(
      _ mayAnswer: DispatchSemaphore, isHeld: Latch
    ) throws -> (frames: FrameServer, server: TLSServer) {
      let frames = try FrameServer { peer, _ in
        try peer.start([(id: 3, value: 1)])
        peer.respond(try peer.nextRequest().stream, "ok")
        let held = try peer.nextRequest()
        isHeld.open()
        mayAnswer.wait()
        peer.respond(held.stream, "ok")
        try peer.serve { peer.respond($0.stream, "ok") }
      }
      let connections = Counter()
      let server = try TLSServer(identity: TLSIdentity { tls_server_choose($0, "\u{2}h2") }) { peer in
        guard connections.add() == 1 else { return peer.waitForEnd() }
        if peer.accept() { peer.relay(to: frames.port) }
      }
      return (frames, server)
    }

    /// The first call opens a connection that never opens. The others wait for it.
    @Test(arguments: [1, 3])
    func `a free stream serves calls that wait for a connection`(count: Int) async throws {
      let (mayAnswer, isHeld) = (DispatchSemaphore(value: 0), Latch())
      let (frames, server) = try Self.busyServer(mayAnswer, isHeld: isHeld)
      let (transport, url) = (try server.transport(), server.url)
      let origin = try HTTPURL(url).origin
      #expect(try await TransportConformance.get(transport, url).text == "ok")
      async let held = TransportConformance.get(transport, url).text
      try await isHeld.wait()
      async let texts = HTTP2.get(url, count, over: transport)
      #expect(try await HTTP2.eventually(on: transport) { $0.openings[origin]?.waiting.count == count - 1 })
      #expect(await eventually { server.connections == 2 })
      mayAnswer.signal()
      #expect(try await held == "ok")
      #expect(await texts == [String](repeating: "ok", count: count))
      #expect(frames.connections == 1 && frames.openConnections == 1)
    }

    /// All calls are stopped in one iteration of the loop. No call that is about to end opens a connection.
    @Test func `calls stopped together open one connection`() async throws {
      let begun = Counter()
      let server = try TLSServer { peer in
        if begun.add() == 1 { peer.waitForEnd() } else { TLSServer.answersAll(peer) }
      }
      let (transport, url) = (try server.transport(), server.url)
      let origin = try HTTPURL(url).origin
      let (call, stopped, count) = (CallState(), Counter(), 20)
      let timers = try #require(transport.timers)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count {
          // On the loop's thread: there the stop runs after each call has begun to wait, and finds all of them.
          group.addTask(executorPreference: transport.executor) {
            let exchange = Exchange(
              request: try HTTPRequest(url: url), call: call, connectTimeout: nil, idleTimeout: nil)
            do {
              _ = try await transport.send(exchange)
            } catch is CallState.Stopped {
              stopped.add()
            }
          }
          // The call that opens the connection is stopped before those that wait for it.
          if number == 0 { #expect(try await HTTP2.eventually(on: transport) { $0.openings[origin] != nil }) }
        }
        #expect(try await HTTP2.eventually(on: transport) { $0.openings[origin]?.waiting.count == count - 1 })
        _ = timers.schedule(at: timers.now) { call.stop(.cancelled) }
        try await group.waitForAll()
      }
      // The server accepts this connection after all earlier ones.
      #expect(try await TransportConformance.get(transport, url).text == "ok")
      #expect(stopped.value == count && server.connections == 2)
    }
  }
#endif
